"""A long run of many busy sessions, with a regression of memory and latency.

Prints a row per minute, and at the end the growth of memory, descriptors and response times.
"""
import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time

import definitions
from sidecar import Session, Sidecar
from steps import step

HELP = """
Examples:
  scripts/soak                    an hour, 300 sessions
  scripts/soak --minutes 5 --sessions 50 --format json
"""


def main():
    parser = argparse.ArgumentParser(prog="scripts/soak", description=__doc__, epilog=HELP, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True, type=os.path.abspath, help="the sidecar (default: the output of scripts/build)")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--sessions", type=int, default=300)
    parser.add_argument("--rate", type=float, default=500, help="maximum calls per second; 0 for no limit")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--format", choices=["human", "json"], default="human")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="soak-") as sandbox:
        agent, cwd = os.path.join(sandbox, "agent"), os.path.join(sandbox, "project")
        os.mkdir(cwd)
        definitions.write(agent)
        with Sidecar(options.binary, agent, cwd) as sidecar:
            sidecar.initialize()
            result = soak(sidecar, options)
            result["exit"] = sidecar.end()
    report(result, options)
    sys.exit(not result["flat"])


def soak(sidecar, options):
    """Runs mixed traffic: sessions in different phases, some of which end and start again."""
    chance = random.Random(options.seed)
    sessions = [Session(f"s{number}") for number in range(options.sessions)]
    for session in sessions:
        session.start(sidecar)
    started = minute = time.monotonic()
    calls, took, rows = 0, [], []
    while (now := time.monotonic()) - started < options.minutes * 60:
        number = chance.randrange(len(sessions))
        session = sessions[number]
        before = time.perf_counter()
        mix(chance, session, sidecar)
        took.append(time.perf_counter() - before)
        calls += 1
        if options.rate:
            time.sleep(max(0, started + calls / options.rate - time.monotonic()))
        sidecar.received.clear()
        if chance.random() < 0.001:
            session.do(sidecar, "hook/session_shutdown")
            sessions[number] = Session(f"s{number}")
            sessions[number].start(sidecar)
        if len(session.branch) > 400:
            # A real branch is as long as the conversation; only the entries that the sidecar reads are kept here.
            del session.branch[:-40]
        if now - minute >= min(60, options.minutes * 6):
            rows.append(row(sidecar, now - started, calls, took))
            minute, took = now, []
    return summary(rows, calls)


def mix(chance, session, sidecar):
    method, params = step(chance)
    if method == "clock/advance":
        return definitions.check(session, sidecar, chance.choice(definitions.TOOLS))
    if chance.random() < 0.01:
        return session.start(sidecar)
    if chance.random() < 0.02:
        params = {"event": {"messages": [{"role": "user", "content": "x" * chance.randrange(200_000)}]}}
        method = "hook/agent_end"
    session.keep(sidecar.answer_to(sidecar.send(method, sessionId=session.name, **params)).get("result") or {})


def row(sidecar, elapsed, calls, took):
    children = open(f"/proc/{sidecar.process.pid}/task/{sidecar.process.pid}/children").read().split()
    measured = {
        "minute": round(elapsed / 60, 2), "calls": calls, "rss": round(sidecar.memory(), 2), "descriptors": sidecar.descriptors(),
        "children": len(children), "median": round(statistics.median(took) * 1e6), "p99": round(statistics.quantiles(took, n=100)[98] * 1e6),
    }
    print("minute {minute:6} · {calls:9} calls · {rss:6} MiB · {descriptors} descriptors · {children} children · {median} µs median · {p99} µs p99".format(**measured), file=sys.stderr, flush=True)
    return measured


def summary(rows, calls):
    # The first tenth is a warm-up: sessions start their first runs.
    settled = rows[max(1, len(rows) // 10):]
    minutes = [row["minute"] for row in settled]
    slope = statistics.linear_regression(minutes, [row["rss"] for row in settled]).slope * 60
    half = len(settled) // 2
    drift = statistics.median(row["median"] for row in settled[half:]) / statistics.median(row["median"] for row in settled[:half])
    # The files of the store are open while it is used, so a leak is what the second half never goes below.
    descriptors = [row["descriptors"] for row in settled]
    leaked = max(0, min(descriptors[half:]) - max(descriptors[:half]))
    return {
        "rows": rows, "calls": calls, "rssSlopeMiBPerHour": round(slope, 3), "rss": settled[-1]["rss"], "descriptorsGrown": leaked,
        "children": settled[-1]["children"], "latencyDrift": round(drift, 3), "flat": slope < 1 and leaked <= 0 and settled[-1]["children"] == 0,
    }


def report(result, options):
    if options.format == "json":
        return print(json.dumps({"seed": options.seed, "sessions": options.sessions, **result}, indent=2))
    print("{calls:,} calls; RSS {rss} MiB, {rssSlopeMiBPerHour:+} MiB an hour; {descriptorsGrown:+} descriptors; {children} children; the second half's median call takes {latencyDrift} × the first's; exit {exit}".format(**result))
    print("flat" if result["flat"] else "NOT FLAT", f"(seed {options.seed})")


main()
