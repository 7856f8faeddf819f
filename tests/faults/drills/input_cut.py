"""Standard input closes in the middle of a line."""
from sidecar import Gone, Sidecar

GUARANTEE = "if standard input closes in the middle of a line, all complete lines are answered, and the exit code is 0"


def drill(sandbox):
    line = Sidecar.line(9, "hook/tool_call", {"event": {"toolName": "edit", "input": {"text": "é\U0001f600\\u00e9"}}})
    cuts = range(0, len(line) + 1, sandbox.many(1, 7))
    for cut in cuts:
        with Sidecar(sandbox.binary, sandbox.agent, sandbox.cwd) as sidecar:
            sidecar.initialize()
            sidecar.call("hook/session_start", context={"branch": []})
            sidecar.write(line[:cut])
            sidecar.process.stdin.close()
            answers = rest(sidecar)
            assert len(answers) == (cut > 0), f"cut at {cut}: {answers}"
            is_whole = cut >= len(line) - 1
            assert all(("result" in answer) == is_whole for answer in answers), f"cut at {cut}: {answers}"
            assert sidecar.process.wait(20) == 0
    return f"cut at {len(cuts)} places: always one answer, always exit 0"


def rest(sidecar):
    answers = []
    try:
        while True:
            answers.append(sidecar.read())
    except Gone:
        return answers
