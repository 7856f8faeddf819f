"""Special files in place of definitions."""
import os
import socket
import threading
import time

import definitions
from sidecar import Session, Sidecar

GUARANTEE = "unreadable, vanishing, endless or special files among the definitions are reported, and affect neither other workflows nor the time"


def drill(sandbox):
    definitions.write(sandbox.agent)
    kinds = odd(os.path.join(sandbox.agent, "workflows"))
    stop = threading.Event()
    flicker = threading.Thread(target=come_and_go, args=(os.path.join(sandbox.agent, "workflows", "ghost"), stop))
    flicker.start()
    slowest = 0.0
    try:
        for _ in range(sandbox.many(100, 10)):
            with Sidecar(sandbox.binary, sandbox.agent, sandbox.cwd) as sidecar:
                sidecar.initialize()
                started = time.monotonic()
                session = Session()
                found = {d.get("file") for d in session.start(sidecar).get("diagnostics", ())}
                listed = sidecar.call("workflow/list")
                slowest = max(slowest, time.monotonic() - started)
                assert any(workflow["key"] == "build" for workflow in listed["workflows"]), listed
                files = [d.get("file", "") for d in listed.get("diagnostics", ())] + list(filter(None, found))
                for kind in kinds:
                    assert any(f"/{kind}/" in file or file.endswith(f"/{kind}") for file in files), f"no diagnostic for {kind}: {files}"
    finally:
        stop.set()
        flicker.join()
    assert slowest < 5, f"{slowest:.1f} s"
    return f"{', '.join(kinds)}, and one that comes and goes: each reported, the valid workflow listed, within {slowest * 1000:.0f} ms"


def odd(workflows):
    def path_of(kind):
        directory = os.path.join(workflows, kind)
        os.makedirs(directory)
        return os.path.join(directory, "workflow.yaml")

    os.mkfifo(path_of("fifo"))
    os.symlink("/dev/zero", path_of("device"))
    os.symlink("workflow.yaml", path_of("link-to-itself"))
    os.symlink("/nowhere/at/all", path_of("dangling-link"))
    os.mkdir(path_of("directory"))
    with open(path_of("not-text"), "wb") as file:
        file.write(bytes(range(256)))
    with open(path_of("huge"), "wb") as file:
        file.truncate(8 << 30)
    with open(path_of("empty"), "wb"):
        pass
    unix_socket = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(os.path.dirname(path_of("socket")))
    unix_socket.bind("workflow.yaml")
    os.chdir(here)
    kinds = ["fifo", "device", "link-to-itself", "dangling-link", "directory", "not-text", "huge", "empty", "socket"]
    if os.geteuid() != 0:
        file = path_of("unreadable")
        with open(file, "w") as text:
            text.write(definitions.PART)
        os.chmod(file, 0)
        kinds.append("unreadable")
    return kinds


def come_and_go(directory, stop):
    file = os.path.join(directory, "workflow.yaml")
    while not stop.is_set():
        os.makedirs(directory, exist_ok=True)
        with open(file, "w") as text:
            text.write(definitions.PART)
        os.unlink(file)
        os.rmdir(directory)
