"""A minimal host: writes lines, answers questions and stores the session's entries."""
import json
import os
import select
import subprocess
import time


class Gone(Exception):
    """The sidecar has ended."""


class Sidecar:
    """A sidecar process, line by line."""

    def __init__(self, binary, agent, cwd, clock=None, arguments=(), **popen):
        self.agent, self.cwd, self.clock = agent, cwd, clock
        environment = {**os.environ, "WORKFLOW_SIDECAR_LOG": "off"}
        popen.setdefault("stdin", subprocess.PIPE)
        self.process = subprocess.Popen(
            [binary, "serve", *arguments], stdout=subprocess.PIPE, bufsize=0, env=environment, cwd=cwd, **popen
        )
        self.rest = b""
        self.ids = 0
        self.received = []

    def send(self, method, **params):
        """Writes a request and returns its id."""
        self.ids += 1
        self.write(self.line(self.ids, method, params))
        return self.ids

    @staticmethod
    def line(identity, method, params):
        return json.dumps({"jsonrpc": "2.0", "id": identity, "method": method, "params": params}).encode() + b"\n"

    def write(self, data):
        try:
            view = memoryview(data)
            while view:
                view = view[self.process.stdin.write(view):]
        except (BrokenPipeError, ValueError):
            raise Gone from None

    def read(self, patience=20):
        """Reads the next line."""
        end = time.monotonic() + patience
        while b"\n" not in self.rest:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise TimeoutError(f"no line in {patience} s")
            got = os.read(self.process.stdout.fileno(), 1 << 20)
            if not got:
                raise Gone
            self.rest += got
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def answer_to(self, identity, patience=20):
        """Reads until the answer to a request; other messages go to `received`, and questions are declined."""
        while True:
            message = self.read(patience)
            if "method" not in message:
                if message.get("id") == identity:
                    return message
                continue
            self.received.append(message)
            if "id" in message:
                declined = False if message["method"] == "ui/confirm" else None
                self.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": declined}).encode() + b"\n")

    def call(self, method, **params):
        """Sends a request that must succeed, and returns its result."""
        answer = self.answer_to(self.send(method, **params))
        if "result" not in answer:
            raise AssertionError(f"{method} {params}: {answer}")
        return answer["result"]

    def initialize(self, dialogs=False):
        clock = {"clock": {"virtual": self.clock}} if self.clock else {}
        return self.call(
            "initialize", protocolVersion=1, host={"name": "drill", "version": "1"},
            cwd=self.cwd, agentDir=self.agent, capabilities={"dialogs": dialogs}, **clock,
        )

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        if self.process.stdin:
            try:
                self.process.stdin.close()
            except BrokenPipeError:
                pass

    def end(self, patience=20):
        """Closes standard input and returns the exit code."""
        self.process.stdin.close()
        code = self.process.wait(patience)
        self.process.stdout.close()
        return code

    def memory(self, field="VmRSS"):
        """Returns the memory in MiB."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith(field + ":")) / 1024

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.kill()


class Session:
    """The entries of a session, as a host stores them."""

    def __init__(self, name=""):
        self.name, self.branch = name, []

    def keep(self, result):
        for action in result.get("actions", ()):
            if action["type"] == "appendEntry":
                entry = {"type": "custom", "customType": action["customType"], "data": action["data"]}
                self.branch.append({**entry, "id": f"e{len(self.branch)}"})

    def start(self, sidecar):
        result = sidecar.call("hook/session_start", sessionId=self.name, context={"hasUI": False, "branch": self.branch})
        self.keep(result)
        return result

    def do(self, sidecar, method, **params):
        result = sidecar.call(method, sessionId=self.name, **params)
        self.keep(result)
        return result

    def state(self, sidecar):
        return sidecar.call("session/state", sessionId=self.name)
