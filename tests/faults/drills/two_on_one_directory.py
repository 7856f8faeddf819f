"""Two sidecars share an agent directory, and the user trusts projects through both."""
import json
import os
import threading

from sidecar import Session, Sidecar

GUARANTEE = "two sidecars on one agent directory lose no decision of the user: every project trusted through one is trusted by the other"

WORKFLOW = """\
name: Gated
commandName: gated
initialMessage: "Go"
phases:
  - { id: a, name: A, emoji: A, instructions: Do it., gate: [ { run: ["true"] } ] }
  - { id: b, name: B, emoji: B, instructions: Done. }
"""


def drill(sandbox):
    count = sandbox.many(40, 6)
    projects = [project(sandbox, number) for number in range(count)]
    halves = [projects[0::2], projects[1::2]]
    threads = [threading.Thread(target=lambda half=half: results.extend(trusted(sandbox, half))) for half in halves]
    results = []
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == count and all(results), results
    # A third one does not ask again.
    for directory in projects:
        assert walk(sandbox, directory, lambda message: None) == 0, f"asked again for {directory}"
    return f"{count} projects trusted by two sidecars at once; a third one asked for none of them again"


def project(sandbox, number):
    directory = os.path.join(sandbox.root, f"project-{number}")
    workflow = os.path.join(directory, ".pi/workflows/gated")
    os.makedirs(workflow)
    with open(os.path.join(workflow, "workflow.yaml"), "w") as file:
        file.write(WORKFLOW.replace("Do it.", f"Do {number}."))
    return directory


def trusted(sandbox, directories):
    return [walk(sandbox, directory, lambda message: agree(message)) > 0 for directory in directories]


def agree(message):
    return True if message["method"] == "ui/confirm" else message["params"]["options"][0]


def walk(sandbox, directory, decide):
    """Leaves the phase with the gate, and returns the number of questions."""
    asked = 0
    with Sidecar(sandbox.binary, sandbox.agent, directory) as sidecar:
        sidecar.initialize(dialogs=True)
        session = Session()
        session.start(sidecar)
        session.do(sidecar, "command/run", name="workflow", arguments="gated it")
        identity = sidecar.send("tool/execute", name="workflow_step", arguments={"action": "next"}, toolCallId="c")
        while True:
            message = sidecar.read()
            if message.get("id") == identity and "method" not in message:
                break
            if "method" in message and "id" in message:
                asked += 1
                answer = {"jsonrpc": "2.0", "id": message["id"], "result": decide(message)}
                sidecar.write(json.dumps(answer).encode() + b"\n")
        state = session.state(sidecar)
        assert state["phase"]["id"] == "b", message
    return asked
