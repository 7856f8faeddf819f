"""Activities of Temporal for an agent whose run waits for a person (../FLEET.md).

A workflow calls `work`, and while the state that it returns is "waits": `person`, then `work` with the message to go on.
Give both a `heartbeat_timeout` of some minutes, and `person` a `start_to_close_timeout` as long as a person may take.
"""

import asyncio
import json
from dataclasses import dataclass

from temporalio import activity
from temporalio.exceptions import ApplicationError

HEARTBEAT = 20  # seconds


@dataclass
class Work:
    agent: list[str]  # as ["codex", "exec", "workflow feature a button"]
    project: str


@dataclass
class Run:
    id: str
    state: str  # as in `runs --format json`
    waiting: str


async def program(*command: str, cwd: str | None = None) -> tuple[int, str]:
    """Runs a program, with heartbeats. A cancelled activity ends it."""
    process = await asyncio.create_subprocess_exec(*command, cwd=cwd, stdout=asyncio.subprocess.PIPE)
    output = asyncio.ensure_future(process.communicate())
    try:
        while not (await asyncio.wait([output], timeout=HEARTBEAT))[0]:
            activity.heartbeat()
        return process.returncode, output.result()[0].decode()
    finally:
        if process.returncode is None:
            process.terminate()


def run_of(row: dict) -> Run:
    return Run(row["taskId"], row["state"], row.get("waiting", ""))


@activity.defn
async def work(task: Work) -> Run:
    """Has the agent work until it stops, and returns the run of the project."""
    await program(*task.agent, cwd=task.project)
    _, listed = await program("workflow-sidecar", "runs", "--format", "json")
    for row in json.loads(listed):
        if row["cwd"] == task.project:
            return run_of(row)
    raise ApplicationError("the agent has started no run", non_retryable=True)


@activity.defn
async def person(run: str) -> Run:
    """Waits until the run can go on. Raises if it is over, or stopped at a limit."""
    while True:
        wait = ["runs", "--wait", run, "--timeout", f"{HEARTBEAT}s", "--format", "json"]
        code, listed = await program("workflow-sidecar", *wait)
        activity.heartbeat()
        if code == 2:  # the store is away: Temporal tries again
            raise ApplicationError("the run cannot be read")
        found = run_of(json.loads(listed)[0])
        if code == 0:
            return found
        if code != 3:  # 1: cancelled or replaced; 4: at a limit
            raise ApplicationError(f"the run is {found.state}", found.waiting, non_retryable=True)
