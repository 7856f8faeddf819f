"""The host writes and does not read, or reads a few bytes at a time."""
import os
import threading
import time

from sidecar import Session, Sidecar

GUARANTEE = "if the host stops reading, the sidecar waits and its memory does not grow; when the host reads again, every answer arrives in order"


def drill(sandbox):
    calls = sandbox.many(200_000, 20_000)
    with Sidecar(sandbox.binary, sandbox.agent, sandbox.cwd) as sidecar:
        sidecar.initialize()
        Session().start(sidecar)
        before = sidecar.memory()
        line = b'{"jsonrpc":"2.0","id":%d,"method":"hook/nope","params":{}}\n'
        writer = threading.Thread(target=lambda: sidecar.write(b"".join(line % number for number in range(calls))), daemon=True)
        writer.start()
        time.sleep(sandbox.many(5, 1))
        grown = sidecar.memory() - before
        assert writer.is_alive(), "the pipes buffer all calls: too few calls"
        assert grown < 4, f"grew by {grown:.1f} MiB"
        time.sleep(sandbox.many(2, 0))
        for _ in range(2000):
            # A slow reader first.
            sidecar.rest += os.read(sidecar.process.stdout.fileno(), 7)
        for number in range(calls):
            assert sidecar.read()["id"] == number
        writer.join()
    return f"{calls:,} calls written at once, nothing read for {sandbox.many(7, 1)} s: grew by {max(grown, 0):.1f} MiB, then all answered in order"
