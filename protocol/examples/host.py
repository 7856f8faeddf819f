#!/usr/bin/env python3
"""A complete agent host in about 60 lines: python3 host.py COMMAND [ARGUMENT...]

COMMAND is the sidecar, for example: python3 host.py workflow-sidecar serve
Type /workflow, or `tool NAME`, `step ACTION`, `stop`; the workflows are those of ./.pi/workflows.
"""
import itertools, json, os, subprocess, sys, threading

if len(sys.argv) < 2:
    sys.exit(__doc__)
sidecar = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
ids = itertools.count(1)
answers, arrived = {}, threading.Condition()
branch = []  # the session's entries: all that a host has to store


def say(*words):
    sys.stdout.write(" ".join(words) + "\n")  # a single write, because two threads print
    sys.stdout.flush()


def send(message):
    sidecar.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    sidecar.stdin.flush()


def call(method, **params):
    id = next(ids)
    send({"id": id, "method": method, "params": params})
    with arrived:
        arrived.wait_for(lambda: id in answers)
        answer = answers.pop(id)
    if "error" in answer:  # a real host blocks a tool call whose answer fails or is late
        say("ERROR", method, answer["error"]["message"])
        return {}
    apply(answer["result"])
    return answer["result"]


def apply(result):
    for action in (result or {}).get("actions", []):
        if action["type"] == "appendEntry":
            branch.append({"type": "custom", "customType": action["customType"], "data": action["data"]})
        elif action["type"] == "sendUserMessage":  # a real host starts its agent with this message
            say("AGENT <-", action["content"])
            threading.Thread(target=start_agent, args=(action["content"],)).start()
        else:
            say(action["type"], json.dumps({k: v for k, v in action.items() if k != "type"}, ensure_ascii=False))


def start_agent(prompt):
    inject = call("hook/before_agent_start", event={"prompt": prompt}).get("inject")
    say("CONTEXT", (inject or {}).get("content", "-"))


def listen():
    for line in sidecar.stdout:
        message = json.loads(line)
        if "method" not in message:  # an answer to one of our calls
            with arrived:
                answers[message["id"]] = message
                arrived.notify_all()
        elif "id" in message:  # a question to the person; this host says yes
            asked = message["params"]  # ui/select has options, ui/confirm a message
            say("ASKED", asked.get("message") or asked["title"])
            send({"id": message["id"], "result": asked.get("options", [True])[0]})
        else:  # host/apply: actions of the countdown
            apply(message["params"])


threading.Thread(target=listen, daemon=True).start()
call("initialize", protocolVersion=1, host={"name": "host.py", "version": "1"}, cwd=os.getcwd(), capabilities={"dialogs": True})
call("hook/session_start", event={"reason": "startup"}, context={"hasUI": False, "branch": branch})
for line in sys.stdin:
    word, _, rest = line.strip().partition(" ")
    if word.startswith("/"):
        call("command/run", name=word[1:], arguments=rest)
    elif word == "tool":
        block = call("hook/tool_call", event={"toolName": rest, "toolCallId": "1", "input": {}}).get("block")
        say("BLOCKED" if block else "ALLOWED", rest, (block or {}).get("reason", ""))
    elif word == "step":
        answer = call("tool/execute", name="workflow_step", toolCallId="2", arguments={"action": rest})
        say(answer["content"][0]["text"])
    elif word == "stop":
        call("hook/agent_end", event={"messages": [{"role": "assistant", "stopReason": "stop", "content": []}]})
call("shutdown")
