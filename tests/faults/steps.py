"""Random steps of a session: the same seed gives the same steps."""


def step(random):
    """Returns a method and its parameters."""
    kind = random.choices(
        ["start", "next", "loop", "cancel", "prompt", "tool", "end", "type", "list", "time"],
        [3, 6, 1, 1, 3, 6, 4, 2, 1, 2],
    )[0]
    return {
        "start": lambda: ("command/run", {"name": "workflow", "arguments": f"build task {random.randrange(9)}"}),
        "next": lambda: ("tool/execute", {"name": "workflow_step", "arguments": {"action": "next"}}),
        "loop": lambda: ("tool/execute", {"name": "workflow_step", "arguments": {"action": "loop"}}),
        "cancel": lambda: ("tool/execute", {"name": "workflow_step", "arguments": {"action": "cancel"}}),
        "prompt": lambda: ("hook/before_agent_start", {"event": {"prompt": "go on"}}),
        "tool": lambda: ("hook/tool_call", {"event": {"toolName": random.choice(["edit", "write", "bash"])}}),
        "end": lambda: ("hook/agent_end", {"event": {"messages": [{"role": "assistant", "stopReason": "stop", "content": []}]}}),
        "type": lambda: ("hook/input", {"event": {"source": "interactive"}}),
        "list": lambda: ("workflow/list", {}),
        "time": lambda: ("clock/advance", {"ms": random.choice([0, 1, 999, 1000, 5000])}),
    }[kind]()
