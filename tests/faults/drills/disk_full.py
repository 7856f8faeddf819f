"""The disk is full or read-only."""
import os
import subprocess

import definitions
from sidecar import Session, Sidecar

GUARANTEE = "a disk that is full or read-only costs a recording, never a session or a guard"


def drill(sandbox):
    definitions.write(sandbox.agent)
    seen = [recorded(sandbox, "/dev/full")]
    disk = os.path.join(sandbox.root, "disk")
    os.mkdir(disk)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", disk], capture_output=True).returncode == 0:
        try:
            seen.append(recorded(sandbox, os.path.join(disk, "session.jsonl")))
            subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
            seen.append(recorded(sandbox, os.path.join(disk, "another.jsonl")))
        finally:
            subprocess.run(["umount", disk], check=True)
    else:
        seen.append("no right to mount a small disk here: /dev/full only")
    return "; ".join(seen)


def recorded(sandbox, path):
    with Sidecar(sandbox.binary, sandbox.agent, sandbox.cwd, arguments=["--record", path]) as sidecar:
        sidecar.initialize()
        session = Session()
        session.start(sidecar)
        session.do(sidecar, "command/run", name="workflow", arguments="build it")
        for _ in range(200):
            definitions.check(session, sidecar, "edit")
        assert sidecar.end() == 0
    return f"{os.path.basename(path)}: 200 calls decided, exit 0"
