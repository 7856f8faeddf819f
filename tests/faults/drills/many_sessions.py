"""A thousand active sessions in one process."""
import definitions
from sidecar import Session, Sidecar
from steps import step

GUARANTEE = "a thousand sessions in one process are isolated, and each follows the rules of its phase"


def drill(sandbox):
    definitions.write(sandbox.agent)
    random, count, steps = sandbox.random, sandbox.many(1000, 100), sandbox.many(30_000, 1500)
    with Sidecar(sandbox.binary, sandbox.agent, sandbox.cwd) as sidecar:
        sidecar.initialize()
        sessions = [Session(f"s{number}") for number in range(count)]
        for session in sessions:
            session.start(sidecar)
        idle = sidecar.memory()
        for _ in range(steps):
            session = random.choice(sessions)
            method, params = step(random)
            if method != "clock/advance":
                session.do(sidecar, method, **params)
            definitions.check(session, sidecar, random.choice(definitions.TOOLS))
        active = sum(session.state(sidecar)["active"] for session in sessions)
        busy = sidecar.memory()
        for session in sessions:
            session.do(sidecar, "hook/session_shutdown")
        assert sidecar.call("workflow/list")["workflows"]
    return f"{steps:,} steps over {count:,} sessions ({active} with a run at the end), each decision correct; {idle:.1f} MiB idle, {busy:.1f} MiB at work"
