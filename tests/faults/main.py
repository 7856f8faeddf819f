"""Runs the drills and prints what was promised and what was seen."""
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
  scripts/faults --quick               what scripts/test runs, some seconds
  scripts/faults --only killed_anywhere --seed 7
"""


class Place:
    """Where a drill takes place: a project and an agent directory of its own, a seed, how much of everything."""

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
    parser.add_argument("--binary", required=True, type=os.path.abspath, help="the sidecar (default: what scripts/build makes)")
    parser.add_argument("--quick", action="store_true", help="less of everything")
    parser.add_argument("--only", choices=names, action="append", help="this drill; may be repeated")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="where random steps come from (the time)")
    parser.add_argument("--format", choices=["human", "json"], default="human")
    options = parser.parse_args()
    rows = []
    for name in options.only or names:
        module = importlib.import_module(f"drills.{name}")
        place = Place(options, name)
        started = time.monotonic()
        print(f"{name} …", file=sys.stderr, flush=True)
        try:
            seen, held = module.drill(place), True
        except Exception as problem:  # A drill that fails must not hide the others.
            seen, held = f"{type(problem).__name__}: {problem}", False
        finally:
            place.clear()
        rows.append({"drill": name, "promise": module.PROMISE, "seen": seen, "held": held, "seconds": round(time.monotonic() - started, 1)})
    tell(rows, options)
    sys.exit(not all(row["held"] for row in rows))


def tell(rows, options):
    if options.format == "json":
        json.dump({"seed": options.seed, "quick": options.quick, "drills": rows}, sys.stdout, indent=2)
        return print()
    for row in rows:
        print(f"{'held  ' if row['held'] else 'BROKEN'} {row['drill']} ({row['seconds']} s)\n       promised: {row['promise']}\n       seen:     {row['seen']}")
    print(f"{sum(row['held'] for row in rows)} of {len(rows)} promises held, seed {options.seed}")


main()
