"""The sidecar is killed at every kind of moment of random sessions."""
import re

import definitions
from sidecar import Gone, Session, Sidecar
from steps import step

GUARANTEE = "after SIGKILL before, during or after a line, or before its answer is read, a new sidecar on the host's entries has the state of one that was never killed; only an unconfirmed cancellation has to be confirmed again"

CLOCK = {"now": 1767225600000, "seed": 1}
CANCEL = {"action": "cancel"}
MOMENTS = ("before the line", "during the line", "after the line", "after the answer")


def drill(sandbox):
    definitions.write(sandbox.agent)
    sessions, kills = sandbox.many(200, 12), dict.fromkeys(MOMENTS, 0)
    repeated = sum(play(sandbox, kills) for _ in range(sessions))
    moments = ", ".join(f"{count} {moment}" for moment, count in kills.items())
    return f"{sessions} sessions, {sum(kills.values())} kills ({moments}): every state and every decision the same; {repeated} cancellations were confirmed again"


def play(sandbox, kills):
    """Plays a session next to one that is not killed, and returns the number of cancellations confirmed again."""
    random, repeated = sandbox.random, 0
    ours, theirs = Session(), Session()
    with start(sandbox, ours) as steady:
        shaky = start(sandbox, theirs)
        try:
            for _ in range(25):
                method, params = step(random)
                if method == "clock/advance":
                    continue
                expected = steady.answer_to(steady.send(method, **params))
                ours.keep(expected.get("result") or {})
                moment = None
                if random.random() < 0.3:
                    moment = random.choice(MOMENTS)
                    kills[moment] += 1
                    kill(shaky, moment, method, params, theirs)
                    shaky = start(sandbox, theirs)
                if moment != "after the answer":
                    got = shaky.answer_to(shaky.send(method, **params))
                    theirs.keep(got.get("result") or {})
                if params.get("arguments") == CANCEL and not ours.state(steady)["active"]:
                    repeated += cancel_again(shaky, theirs, method, params)
                compare(steady, shaky, ours, theirs)
        finally:
            shaky.kill()
    return repeated


def cancel_again(shaky, theirs, method, params):
    """Repeats a cancellation whose first call was lost with the process, and returns whether that was needed.

    After a kill that follows the answer, the confirmation is lost as well: both calls are repeated.
    """
    calls = 0
    while calls < 2 and theirs.state(shaky)["active"]:
        theirs.keep(shaky.answer_to(shaky.send(method, **params)).get("result") or {})
        calls += 1
    return calls > 0


def start(sandbox, session):
    sidecar = Sidecar(sandbox.binary, sandbox.agent, sandbox.cwd, CLOCK)
    sidecar.initialize()
    session.start(sidecar)
    return sidecar


def kill(sidecar, moment, method, params, session):
    line = sidecar.line(77, method, params)
    if moment == "during the line":
        sidecar.write(line[: len(line) // 2])
    elif moment == "after the line":
        sidecar.write(line)
    elif moment == "after the answer":
        sidecar.write(line)
        session.keep(sidecar.answer_to(77).get("result") or {})
    sidecar.kill()


def compare(steady, shaky, ours, theirs):
    one, other = ours.state(steady), theirs.state(shaky)
    assert durable(one) == durable(other), f"{one}\nafter a kill {other}"
    for tool in definitions.TOOLS:
        blocked = [("block" in sidecar.call("hook/tool_call", event={"toolName": tool})) for sidecar in (steady, shaky)]
        assert blocked[0] == blocked[1], f"{tool}: {blocked} in {one}"


def durable(state):
    """Selects the fields that survive the process, and the item of the loop: a countdown ends with it."""
    keys = ("active", "path", "phase", "globalStepCount", "taskDescription", "workflowKey", "progress", "flow")
    item = re.search(r"Part \d of \d: \w+", state.get("status") or "")
    return {key: state.get(key) for key in keys} | {"item": item and item[0]}
