"""Workflows for the drills: nested, with tool rules in every phase, a loop over a list and a limit."""
import os

BUILD = """\
name: Build
commandName: build
initialMessage: "Build {description}"
continue: { max: 5, countdown: 1 }
inputs: { parts: { type: list, default: [Core, Door, Roof] } }
phases:
  - { id: plan, name: Plan, emoji: P, instructions: Plan it., tools: { blacklist: [edit, write] } }
  - { subworkflow: part, forEach: "{inputs.parts}", with: { name: "{item}", number: "{item.number}" } }
  - { id: ship, name: Ship, emoji: S, instructions: Ship it., tools: { whitelist: [read, bash] } }
"""
PART = """\
name: Part
show: workflows
inputs: { name: {}, number: { type: number } }
phases:
  - { id: test, name: Test, emoji: T, instructions: Test it., tools: { blacklist: [write] } }
  - { id: code, name: Code, emoji: C, instructions: Code it. }
"""
# The tools that each phase blocks.
BLOCKED = {"plan": {"edit", "write"}, "test": {"write"}, "code": set(), "ship": {"edit", "write"}}
TOOLS = ("edit", "write", "read", "bash")


def write(agent, build=BUILD, part=PART):
    for key, text in (("build", build), ("part", part)):
        directory = os.path.join(agent, "workflows", key)
        os.makedirs(directory, exist_ok=True)
        with open(os.path.join(directory, "workflow.yaml"), "w") as file:
            file.write(text)


def check(session, sidecar, tool):
    """Checks that a tool is blocked if and only if the rules of the phase block it."""
    state = session.state(sidecar)
    is_blocked = "block" in session.do(sidecar, "hook/tool_call", event={"toolName": tool})
    should = tool in BLOCKED[state["phase"]["id"]] if state["active"] else False
    assert is_blocked == should, f"{tool} in {state}: blocked is {is_blocked}"
