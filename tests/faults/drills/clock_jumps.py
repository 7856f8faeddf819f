"""The clock stops and jumps."""
import definitions
from sidecar import Session, Sidecar
from steps import step

GUARANTEE = "a clock that stops or jumps by days changes no rule, sends no more reminders than the limit, and delays nothing"

JUMPS = (0, 1, 999, 1000, 60_000, 86_400_000, 366 * 86_400_000)


def drill(sandbox):
    definitions.write(sandbox.agent)
    random, jumps, reminders = sandbox.random, 0, 0
    for _ in range(sandbox.many(100, 10)):
        with Sidecar(sandbox.binary, sandbox.agent, sandbox.cwd, {"now": random.choice([0, 1767225600000]), "seed": 1}) as sidecar:
            sidecar.initialize()
            session = Session()
            session.start(sidecar)
            session.do(sidecar, "command/run", name="workflow", arguments="build it")
            reminded = 0
            for _ in range(12):
                session.do(sidecar, "hook/agent_end", event={"messages": [{"role": "assistant", "stopReason": "stop", "content": []}]})
                result = sidecar.call("clock/advance", ms=random.choice(JUMPS))
                jumps += 1
                messages = [action for action in result.get("actions", ()) if action["type"] == "sendUserMessage"]
                session.keep(result)
                reminded += len(messages)
                definitions.check(session, sidecar, random.choice(definitions.TOOLS))
            assert reminded <= 5, f"{reminded} reminders under a limit of 5"
            reminders += reminded
    return f"{jumps} jumps of 0 ms to a year, {reminders} reminders, never over the limit"
