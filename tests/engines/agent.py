"""An agent in hooks and a call of the MCP server, as Codex starts them: gives a prompt, and calls `workflow_step` once."""

import json
import os
import subprocess
import sys

PROGRAM, PROMPT = sys.argv[1:]


def hook(name, **members):
    event = {"hook_event_name": name, "session_id": "s", "cwd": os.getcwd(), **members}
    command = [PROGRAM, "hook", "codex"]
    answer = subprocess.run(command, input=json.dumps(event), capture_output=True, text=True, check=True)
    return json.loads(answer.stdout or "{}")


hook("UserPromptSubmit", prompt=PROMPT)
call = {"tool_name": "mcp__workflow__workflow_step", "tool_input": {"action": "next"}}
arguments = hook("PreToolUse", **call)["hookSpecificOutput"]["updatedInput"]
params = {"name": "workflow_step", "arguments": arguments, "_meta": {}}
server = subprocess.Popen([PROGRAM, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}) + "\n")
server.stdin.flush()
server.stdout.readline()
server.stdin.close()
server.wait()
