"""Two sidecars share an agent directory, and both are told to trust."""
import json
import os
import threading

from sidecar import Session, Sidecar

PROMISE = "two sidecars on one agent directory lose nothing that either was told: every project trusted through one is trusted by the other"

WORKFLOW = """\
name: Gated
commandName: gated
initialMessage: "Go"
phases:
  - { id: a, name: A, emoji: A, instructions: Do it., gate: [ { run: ["true"] } ] }
  - { id: b, name: B, emoji: B, instructions: Done. }
"""


def drill(place):
    count = place.many(40, 6)
    projects = [project(place, number) for number in range(count)]
    halves = [projects[0::2], projects[1::2]]
    threads = [threading.Thread(target=lambda half=half: results.extend(trusted(place, half))) for half in halves]
    results = []
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == count and all(results), results
    # A third one has to ask nobody.
    for directory in projects:
        assert walk(place, directory, lambda message: None) == 0, f"asked again for {directory}"
    return f"{count} projects trusted by two sidecars at once; a third one asked for none of them again"


def project(place, number):
    directory = os.path.join(place.root, f"project-{number}")
    workflow = os.path.join(directory, ".pi/workflows/gated")
    os.makedirs(workflow)
    with open(os.path.join(workflow, "workflow.yaml"), "w") as file:
        file.write(WORKFLOW.replace("Do it.", f"Do {number}."))
    return directory


def trusted(place, directories):
    return [walk(place, directory, lambda message: agree(message)) > 0 for directory in directories]


def agree(message):
    return True if message["method"] == "ui/confirm" else message["params"]["options"][0]


def walk(place, directory, decide):
    """Goes through the gate; gives how often it was asked."""
    asked = 0
    with Sidecar(place.binary, place.agent, directory) as sidecar:
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
