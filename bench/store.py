"""Measures the store: a hook beside a node process that does nothing, `runs`, `stats`, the board, growth, and writers at once.

Started by scripts/bench --store. Prints a table; a wrong answer or a lost session ends it with exit code 1.
"""

import argparse
import http.client
import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

WORKFLOW = """
name: Bugfix
commandName: bugfix
initialMessage: Go
phases: [{ id: a, name: Analyze, emoji: A, instructions: Look., tools: read-only }]
"""
STATE = ".local/state/workflow-sidecar"


class Home:
    """A home directory with a workflow, which is the project too."""

    def __init__(self, binary):
        self.binary = binary
        self.path = tempfile.mkdtemp(prefix="wf-store-")
        workflow = os.path.join(self.path, ".pi/workflows/bugfix")
        os.makedirs(workflow)
        with open(os.path.join(workflow, "workflow.yaml"), "w", encoding="utf-8") as file:
            file.write(WORKFLOW)
        self.environment = {"HOME": self.path, "PATH": os.environ["PATH"]}
        self.hook("s", "UserPromptSubmit", prompt="workflow bugfix it")

    def database(self):
        return sqlite3.connect(os.path.join(self.path, STATE, "store.sqlite3"), timeout=60)

    def hook(self, session, name, run=None, **members):
        """Runs a hook; gives its exit code and its seconds."""
        event = {"hook_event_name": name, "session_id": session, "cwd": self.path, **members}
        return (run or measured)([self.binary, "hook", "codex"], self.environment, json.dumps(event).encode())

    def read(self, session, run=None):
        return self.hook(session, "PreToolUse", run, tool_name="Bash", tool_input={"command": "cat a"})

    def fill(self, runs):
        """Copies the run of the session `s` until there are so many runs."""
        database = self.database()
        have = database.execute("SELECT count(*) FROM sessions").fetchone()[0]
        columns = [row[1] for row in database.execute("PRAGMA table_info(sessions)")]
        copied = [name for name in columns if name not in ("id", "session", "task_id")]
        names = ", ".join(copied)
        values = ", ".join(f"s.{name}" for name in copied)
        numbers = "WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)"
        with database:
            database.execute(
                f"INSERT INTO sessions (session, task_id, {names}) {numbers} "
                f"SELECT 'copy-' || i, 'wf-copy-' || i, {values} FROM n, sessions s WHERE s.session = 's'",
                (have, runs - 1),
            )
            database.execute(
                "INSERT OR IGNORE INTO entries (session, number, type, data) "
                "SELECT c.id, e.number, e.type, e.data FROM sessions c, entries e "
                "WHERE c.session LIKE 'copy-%' AND c.id > ?1 "
                "AND e.session = (SELECT id FROM sessions WHERE session = 's')",
                (have,),
            )
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()

    def count(self, days):
        """Writes the figures of so many days, as four workflows leave them."""
        times = [f"{bucket}:phase {phase}" for phase in range(6) for bucket in range(60, 68)]
        names = [("run", name) for name in ("started", "complete", "cancelled", "ended")]
        names += [("phase", name) for name in times] + [("waited", name) for name in times[:8]]
        names += [(kind, f"make check-{number} (workflow.yaml:{number})") for kind in ("passed", "failed") for number in range(5)]
        calls = ("denied", "asked", "allowed", "declined")
        names += [(kind, f"the phase (workflow.yaml:{number})") for kind in calls for number in range(5)]
        today = int(time.time() // 86400)
        rows = [
            (day, "codex", f"workflow-{workflow}", kind, name, 3, 3000)
            for day in range(today - days + 1, today + 1)
            for workflow in range(4)
            for kind, name in names
        ]
        database = self.database()
        with database:
            database.executemany(
                "INSERT OR REPLACE INTO figures (day, host, workflow, kind, name, number, total) VALUES (?, ?, ?, ?, ?, ?, ?)",
                rows,
            )
        database.close()
        return len(rows)

    def size(self):
        directory = os.path.join(self.path, STATE)
        return sum(os.path.getsize(os.path.join(directory, name)) for name in os.listdir(directory))

    def remove(self):
        shutil.rmtree(self.path)


def started(command, environment, given):
    process = subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    process.stdin.write(given)
    process.stdin.close()
    return process


def measured(command, environment, given=b""):
    """Runs a program; gives its exit code and its seconds."""
    begin = time.perf_counter()
    code = started(command, environment, given).wait()
    return code, time.perf_counter() - begin


def most_memory(command, environment, given):
    """Runs a program; gives its most memory in KiB. The system's own count begins with the memory of this process."""
    process = started(command, environment, given)
    most = 0
    while True:
        try:
            with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
                found = [row.split()[1] for row in file if row.startswith("VmHWM")]
        except OSError:
            break
        if not found:
            break
        most = int(found[0])
    process.wait()
    return most


def check(is_right, what):
    if not is_right:
        sys.exit(f"bench/store.py: {what}")


def p50(seconds):
    return f"{statistics.median(seconds) * 1000:.1f} ms"


def line(name, figure, goal=""):
    print(f"{name:<58} {figure:>12}  {goal}", flush=True)


def hooks(home, rounds):
    """A hook, node and the smallest program by turns, so that all see the same machine."""
    own, node, floor = [], [], []
    for _ in range(rounds):
        code, seconds = home.read("s")
        check(code == 0, f"a hook ended with {code}")
        own.append(seconds)
        node.append(measured(["node", "-e", "0"], home.environment)[1])
        floor.append(measured(["true"], home.environment)[1])
    return own, node, floor


def writers(home, number, events):
    """Sessions with a run at once, each with its events in turn, and then one session that all change.

    Gives the hooks a second, the longest one, and how many blocked because the store was not free in time."""

    def work(session, answers):
        for _ in range(events):
            answers.append(
                home.hook(session, "PreToolUse", tool_name="mcp__workflow__workflow_step", tool_input={"action": "next"})
            )

    for at in range(number):
        home.hook(f"writer-{at}", "UserPromptSubmit", prompt="workflow bugfix it")
    for of_writer in (lambda at: f"writer-{at}", lambda at: "s"):
        answers = []
        threads = [threading.Thread(target=work, args=(of_writer(at), answers)) for at in range(number)]
        begin = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.perf_counter() - begin
        check(len(answers) == number * events, "a hook did not end")
        blocked = sum(code != 0 for code, _ in answers)
        yield len(answers) / seconds, max(took for _, took in answers), blocked


class Board:
    """The board of a home's store, and a browser that was let in."""

    def __init__(self, home):
        command = [home.binary, "board", "--no-open", "--listen", "127.0.0.1:0"]
        self.process = subprocess.Popen(command, env=home.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        address = urllib.parse.urlsplit(self.process.stdout.readline().decode().strip())
        self.place = address.netloc
        self.cookie = ""
        entered = self.ask(f"{address.path}?{address.query}")
        self.cookie = entered.headers["set-cookie"].split(";")[0]

    def ask(self, path):
        connection = http.client.HTTPConnection(self.place, timeout=30)
        connection.request("GET", path, headers={"Cookie": self.cookie})
        return connection.getresponse()

    def page(self, path):
        begin = time.perf_counter()
        answer = self.ask(path)
        text = answer.read().decode()
        check(answer.status == 200, f"the board answers {path} with {answer.status}")
        return text, time.perf_counter() - begin

    def events(self, home, rounds):
        """The seconds from the end of a hook that begins a run to the event that has it."""
        live = self.ask("/live")
        seconds = []
        for number in range(rounds):
            task = f"event {number} of {rounds}"
            code, _ = home.hook(f"event-{number}", "UserPromptSubmit", prompt=f"workflow bugfix {task}")
            check(code == 0, f"a hook ended with {code}")
            begin = time.perf_counter()
            while task not in live.readline().decode():
                pass
            seconds.append(time.perf_counter() - begin)
        return seconds

    def end(self):
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as file:
            most = next(int(row.split()[1]) for row in file if row.startswith("VmHWM"))
        self.process.kill()
        self.process.wait()
        return most


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--runs", type=int, default=1_000_000, help="the most stored runs")
    arguments = parser.parse_args()
    home = Home(arguments.binary)
    try:
        for runs in (10_000, 100_000, 1_000_000):
            if runs > arguments.runs:
                break
            home.fill(runs)
            own, node, floor = hooks(home, arguments.rounds)
            memory = max(home.read("s", most_memory) for _ in range(200))
            line(f"hook with {runs:,} runs, p50", p50(own), "4 ms" if runs == 10_000 else "")
            line("  node -e 0, p50", p50(node))
            line("  true, p50", p50(floor))
            ratio = statistics.median(node) / statistics.median(own)
            line("  times faster", f"{ratio:.1f}", "20" if runs == 10_000 else "")
            line("  most memory", f"{memory / 1024:.1f} MB", "12 MB" if runs == 10_000 else "")
            listed = [measured([arguments.binary, "runs"], home.environment) for _ in range(20)]
            check(all(code == 0 for code, _ in listed), "runs failed")
            line(f"runs over {runs:,} runs, p50", p50([seconds for _, seconds in listed]), "50 ms" if runs == 100_000 else "")
            figures = home.count(365)
            for days, goal in ((90, "300 ms"), (365, "")):
                shown = [measured([arguments.binary, "stats", "--since", f"{days}d"], home.environment) for _ in range(20)]
                check(all(code == 0 for code, _ in shown), "stats failed")
                line(f"  stats of {days} days ({figures:,} figures in 365), p50", p50([seconds for _, seconds in shown]), goal)
            board = Board(home)
            pages = [board.page("/") for _ in range(20)]
            check("runs" in pages[0][0], "the page of runs has none")
            line("  first page of the board, p50", p50([seconds for _, seconds in pages]), "100 ms")
            line("  search by a word, p50", p50([board.page("/?q=nothing")[1] for _ in range(5)]))
            line("  an event on the page after it happened, p50", p50(board.events(home, 10)), "500 ms")
            line("  most memory of the board", f"{board.end() / 1024:.1f} MB", "40 MB")
            line("  size of the store", f"{home.size() / 1e6:.0f} MB")
        for name, (rate, longest, blocked) in zip(("sessions of their own", "one session"), writers(home, 64, 5)):
            line(f"64 writers, {name}", f"{rate:.0f} /s")
            line("  longest", f"{longest:.2f} s", "3 s")
            line("  blocked without a decision", f"{blocked}", "0")
    finally:
        home.remove()


if __name__ == "__main__":
    main()
