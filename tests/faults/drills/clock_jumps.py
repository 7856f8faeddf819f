"""The clock goes anywhere."""
import definitions
from sidecar import Session, Sidecar
from steps import step

PROMISE = "a clock that stands still or leaps by days changes no rule, pushes no more often than the limit, and stalls nothing"

JUMPS = (0, 1, 999, 1000, 60_000, 86_400_000, 366 * 86_400_000)


def drill(place):
    definitions.write(place.agent)
    random, jumps, pushes = place.random, 0, 0
    for _ in range(place.many(100, 10)):
        with Sidecar(place.binary, place.agent, place.cwd, {"now": random.choice([0, 1767225600000]), "seed": 1}) as sidecar:
            sidecar.initialize()
            session = Session()
            session.start(sidecar)
            session.do(sidecar, "command/run", name="workflow", arguments="build it")
            pushed = 0
            for _ in range(12):
                session.do(sidecar, "hook/agent_end", event={"messages": [{"role": "assistant", "stopReason": "stop", "content": []}]})
                result = sidecar.call("clock/advance", ms=random.choice(JUMPS))
                jumps += 1
                said = [sidecar_said for sidecar_said in result.get("actions", ()) if sidecar_said["type"] == "sendUserMessage"]
                session.keep(result)
                pushed += len(said)
                definitions.check(session, sidecar, random.choice(definitions.TOOLS))
            assert pushed <= 5, f"{pushed} pushes under a limit of 5"
            pushes += pushed
    return f"{jumps} jumps of 0 ms to a year, {pushes} pushes, never over the limit"
