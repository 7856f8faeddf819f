"""Definitions are rewritten repeatedly, at once and in parts, during a run."""
import os
import threading

import definitions
from sidecar import Session, Sidecar

GUARANTEE = "however the files of a run are rewritten, the guards of its phase stay in force"

BROKEN = ["", "name: [", "name: B\nphases: []\n", "\0", definitions.BUILD[: len(definitions.BUILD) // 2], definitions.BUILD.replace("blacklist", "blacklsit")]


def drill(sandbox):
    definitions.write(sandbox.agent)
    stop, written = threading.Event(), [0]
    writer = threading.Thread(target=rewrite, args=(sandbox, stop, written))
    calls = 0
    with Sidecar(sandbox.binary, sandbox.agent, sandbox.cwd) as sidecar:
        sidecar.initialize()
        session = Session()
        session.start(sidecar)
        session.do(sidecar, "command/run", name="workflow", arguments="build it")
        assert session.state(sidecar)["active"]
        writer.start()
        try:
            while written[0] < sandbox.many(20_000, 500):
                session.do(sidecar, "workflow/list")
                if calls % 10 == 0:
                    session.start(sidecar)
                session.do(sidecar, "hook/before_agent_start", event={"prompt": "on"})
                for tool in ("edit", "write"):
                    result = session.do(sidecar, "hook/tool_call", event={"toolName": tool})
                    assert "block" in result, f"{tool} passed after {written[0]} rewrites: {session.state(sidecar)}"
                calls += 1
        finally:
            stop.set()
            writer.join()
    return f"{written[0]:,} rewrites, {calls:,} rounds, {calls // 10:,} restarts of the session: every call blocked"


def rewrite(sandbox, stop, written):
    file = os.path.join(sandbox.agent, "workflows/build/workflow.yaml")
    while not stop.is_set():
        text = sandbox.random.choice([*BROKEN, definitions.BUILD])
        if sandbox.random.random() < 0.5:
            with open(file, "w") as whole:
                whole.write(text)
        else:
            with open(file + ".new", "w") as whole:
                whole.write(text)
            os.replace(file + ".new", file)
        if sandbox.random.random() < 0.1:
            os.unlink(file)
        written[0] += 1
