"""The activities of docs/fleet/temporal_activity.py, in the SDK's environment for activities, over runs of the real program."""

import asyncio
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

HERE = pathlib.Path(__file__).parent
EXAMPLE = HERE.parent.parent / "docs/fleet/temporal_activity.py"
PROGRAM = os.path.abspath(os.environ["WORKFLOW_SIDECAR_BINARY"])
WORKFLOW = """
name: Bugfix
commandName: bugfix
initialMessage: Go
phases:
  - {id: a, name: Analyze, instructions: Look., approve: {ask: Is it clear?, choices: [approve, revise]}}
  - {id: b, name: Build, instructions: Build it.}
"""

spec = importlib.util.spec_from_file_location("temporal_activity", EXAMPLE)
example = importlib.util.module_from_spec(spec)
spec.loader.exec_module(example)
example.HEARTBEAT = 1


class Activities(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        self.home = pathlib.Path(home.name)
        self.project = self.home / "project"
        self.project.mkdir()
        workflow = self.home / ".pi/agent/workflows/bugfix"
        workflow.mkdir(parents=True)
        (workflow / "workflow.yaml").write_text(WORKFLOW)
        shown = self.home / "shown"
        settings = f"{{notify: ['sh', '-c', 'cat > {shown}.part; mv {shown}.part {shown}']}}"
        (self.home / ".pi/agent/workflow-sidecar.json5").write_text(settings)
        path = f"{os.path.dirname(PROGRAM)}:{os.environ['PATH']}"
        before = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(before)))
        os.environ.update(HOME=str(self.home), PATH=path)
        self.heartbeats = 0
        self.environment = ActivityEnvironment()
        self.environment.on_heartbeat = self.count

    def count(self, *_details):
        self.heartbeats += 1

    async def work(self, prompt):
        agent = [sys.executable, str(HERE / "agent.py"), PROGRAM, prompt]
        return await self.environment.run(example.work, example.Work(agent, str(self.project)))

    async def test_a_run_waits_for_its_person_with_heartbeats_and_goes_on(self):
        run = await self.work("workflow bugfix it")
        self.assertEqual((run.state, run.waiting), ("waits", "waiting for your approval"))
        person = asyncio.ensure_future(self.environment.run(example.person, run.id))
        while self.heartbeats < 4:
            await asyncio.sleep(0.1)
        self.assertFalse(person.done())
        code = (self.home / "shown").read_text().split()[-1]
        subprocess.run([PROGRAM, "approve", code, "--choice", "approve"], check=True, capture_output=True)
        found = await person
        self.assertEqual((found.id, found.state), (run.id, "active"))
        self.assertEqual((await self.work("go on")).state, "active")
        self.assertEqual((await self.work("go on")).state, "complete")

    async def test_a_run_that_is_over_is_not_waited_for(self):
        run = await self.work("workflow bugfix it")
        await self.work("workflow cancel")
        with self.assertRaises(ApplicationError) as raised:
            await self.environment.run(example.person, run.id)
        self.assertTrue(raised.exception.non_retryable)
        self.assertIn("cancelled", str(raised.exception))

    async def test_an_activity_that_is_cancelled_ends_its_program(self):
        run = await self.work("workflow bugfix it")
        person = asyncio.ensure_future(self.environment.run(example.person, run.id))
        await asyncio.sleep(1.5)
        self.environment.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await person
        self.assertNotIn(run.id, subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout)


if __name__ == "__main__":
    unittest.main()
