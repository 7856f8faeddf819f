"""Judges the changes of the tables with the gate of the program. See `scripts/fake-green --help`."""

import argparse
import importlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LANGUAGES = ["javascript", "python", "rust", "golang"]
# What a workflow asks of its tests: where it changes what the program does, where it does not, and where a test must fail.
GATES = {
    "change": {"noNewSkips": True, "failsWithoutChange": True},
    "keep": {"noNewSkips": True},
    "red": {"exit": "nonzero"},
}
CAUGHT, REFUSED = 0.90, 0.05


class Project:
    """The project of a language: a repository whose first commit is the start of each run."""

    def __init__(self, table, binary, root):
        self.table, self.binary, self.root = table, binary, root / "project"
        self.cwd = self.root / getattr(table, "BELOW", "")
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PYTHON", "NODE_", "MAKE"))},
            "XDG_CACHE_HOME": str(root / "cache"),
            "CARGO_TARGET_DIR": str(root / "target"),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        for path, text in table.BASE.items():
            (self.cwd / path).parent.mkdir(parents=True, exist_ok=True)
            (self.cwd / path).write_text(text)
        self.git("init", "--quiet")
        self.commit()
        self.start = self.git("rev-parse", "HEAD")

    def git(self, *arguments):
        identity = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.com"]
        command = ["git", *identity, *arguments]
        return subprocess.run(command, cwd=self.root, env=self.environment, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self):
        self.git("add", ".")
        self.git("commit", "--quiet", "--message", "state")

    def judge(self, change, is_committed):
        """Makes a change, and returns the verdict of its gate with the reason; the project is then as before."""
        for edit in change.edits:
            edit(self.cwd)
        if is_committed:
            self.commit()
        report = self.gate(dict(GATES[change.gate]), change.run or self.table.RUN)
        self.git("reset", "--quiet", "--hard", self.start)
        self.git("clean", "--quiet", "-ffdx")
        return report["verdict"] == "passed", report["reason"]

    def gate(self, tests, words):
        exit = tests.pop("exit", {"code": 0})
        run = {"command": words, "timeout": 300, "exit": exit, "stream": "both"}
        check = {"tests": {"min": 1, "command": run, **tests}}
        job = {"gates": [{"check": check}], "cwd": str(self.cwd), "baseline": {}, "start": self.start}
        command = [self.binary, "run-gate"]
        with subprocess.Popen(command, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
            # An end of its input would cancel the gate.
            child.stdin.write(json.dumps(job) + "\n")
            child.stdin.flush()
            for line in child.stdout:
                if "report" in (message := json.loads(line)):
                    return message["report"]
        raise RuntimeError("the gate ended without a report")


def judge_all(name, arguments):
    """Judges the changes of a language; returns each with its result, or None if its runner is not there."""
    table = importlib.import_module(name)
    if not shutil.which(table.NEEDS):
        return None
    order = random.Random(f"{arguments.seed} {name}")
    changes = [change for change in table.CHANGES if arguments.change in change.name]
    order.shuffle(changes)
    with tempfile.TemporaryDirectory() as directory:
        project = Project(table, arguments.binary, Path(directory))
        return [(change, *project.judge(change, order.random() < 0.5)) for change in changes[: arguments.first]]


def main():
    parser = argparse.ArgumentParser(prog="scripts/fake-green", description=__doc__)
    parser.add_argument("--binary", type=lambda path: str(Path(path).resolve()), required=True)
    parser.add_argument("--only", choices=LANGUAGES, action="append")
    parser.add_argument("--change", default="")
    parser.add_argument("--first", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--all", action="store_true")
    arguments = parser.parse_args()
    languages, began = arguments.only or LANGUAGES, time.monotonic()
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        results = list(pool.map(lambda name: judge_all(name, arguments), languages))
    rows, counts = [], [0, 0, 0, 0]
    for name, judged in zip(languages, results):
        if judged is None:
            print(f"skipped: {name} ({importlib.import_module(name).NEEDS} is not installed)")
            continue
        row = [0, 0, 0, 0]
        for change, passed, reason in judged:
            at = 0 if change.is_fake else 2
            row[at] += not passed
            row[at + 1] += 1
            if arguments.all or passed == change.is_fake:
                kind = "fake" if change.is_fake else "honest"
                print(f"{name}, {kind}, {change.gate}: {change.name}: {'passes' if passed else 'refused'}: {reason}")
        rows.append((name, row))
        counts = [sum(pair) for pair in zip(counts, row)]
    print(f"\n{'language':12} {'fakes caught':>14} {'honest refused':>16}")
    for name, (caught, fakes, refused, honest) in [*rows, ("all", counts)]:
        print(f"{name:12} {f'{caught} of {fakes}':>14} {f'{refused} of {honest}':>16}")
    print(f"seed {arguments.seed}, {time.monotonic() - began:.0f} s")
    caught, fakes, refused, honest = counts
    return caught < CAUGHT * fakes or refused > REFUSED * honest


if __name__ == "__main__":
    sys.exit(main())
