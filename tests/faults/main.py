"""Runs the drills and prints the guarantee and the observation of each."""
import argparse
import importlib
import json
import os
import pkgutil
import random
import shutil
import sys
import tempfile
import time

import drills

HELP = """
Examples:
  scripts/faults                       all drills in full, some minutes
  scripts/faults --quick               as scripts/test runs them, some seconds
  scripts/faults --only killed_anywhere --seed 7
"""


class Sandbox:
    """The directories of a drill, a seed, and the scale of the drill."""

    def __init__(self, options, name):
        self.binary, self.is_quick = options.binary, options.quick
        self.random = random.Random(f"{options.seed} {name}")
        self.root = tempfile.mkdtemp(prefix="faults-")
        self.agent, self.cwd = os.path.join(self.root, "agent"), os.path.join(self.root, "project")
        os.mkdir(self.agent)
        os.mkdir(self.cwd)

    def many(self, full, quick):
        return quick if self.is_quick else full

    def clear(self):
        shutil.rmtree(self.root, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(prog="scripts/faults", epilog=HELP, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = sorted(module.name for module in pkgutil.iter_modules(drills.__path__))
    parser.add_argument("--binary", required=True, type=os.path.abspath, help="the sidecar (default: the output of scripts/build)")
    parser.add_argument("--quick", action="store_true", help="less of everything")
    parser.add_argument("--only", choices=names, action="append", help="this drill; may be repeated")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="the seed of random steps (default: the time)")
    parser.add_argument("--format", choices=["human", "json"], default="human")
    options = parser.parse_args()
    rows = []
    for name in options.only or names:
        module = importlib.import_module(f"drills.{name}")
        sandbox = Sandbox(options, name)
        started = time.monotonic()
        print(f"{name} …", file=sys.stderr, flush=True)
        try:
            observation, passed = module.drill(sandbox), True
        except Exception as problem:  # A drill that fails must not hide the others.
            observation, passed = f"{type(problem).__name__}: {problem}", False
        finally:
            sandbox.clear()
        rows.append({"drill": name, "guarantee": module.GUARANTEE, "observation": observation, "passed": passed, "seconds": round(time.monotonic() - started, 1)})
    report(rows, options)
    sys.exit(not all(row["passed"] for row in rows))


def report(rows, options):
    if options.format == "json":
        json.dump({"seed": options.seed, "quick": options.quick, "drills": rows}, sys.stdout, indent=2)
        return print()
    for row in rows:
        print(f"{'passed' if row['passed'] else 'FAILED'} {row['drill']} ({row['seconds']} s)\n       guarantee: {row['guarantee']}\n       observed:  {row['observation']}")
    print(f"{sum(row['passed'] for row in rows)} of {len(rows)} drills passed, seed {options.seed}")


main()
