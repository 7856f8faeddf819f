"""There is no room, or no right to write."""
import os
import subprocess

import definitions
from sidecar import Session, Sidecar

PROMISE = "a disk that is full or read-only costs a recording, never a session or a guard"


def drill(place):
    definitions.write(place.agent)
    seen = [recorded(place, "/dev/full")]
    disk = os.path.join(place.root, "disk")
    os.mkdir(disk)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", disk], capture_output=True).returncode == 0:
        try:
            seen.append(recorded(place, os.path.join(disk, "session.jsonl")))
            subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
            seen.append(recorded(place, os.path.join(disk, "another.jsonl")))
        finally:
            subprocess.run(["umount", disk], check=True)
    else:
        seen.append("no right to mount a small disk here: /dev/full only")
    return "; ".join(seen)


def recorded(place, path):
    with Sidecar(place.binary, place.agent, place.cwd, arguments=["--record", path]) as sidecar:
        sidecar.initialize()
        session = Session()
        session.start(sidecar)
        session.do(sidecar, "command/run", name="workflow", arguments="build it")
        for _ in range(200):
            definitions.check(session, sidecar, "edit")
        assert sidecar.end() == 0
    return f"{os.path.basename(path)}: 200 calls decided, exit 0"
