/**
 * Against the npm package in the host's own process.
 *
 * @module
 */

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { inTurn } from "../arms.mjs";
import { now } from "../child.mjs";
import { atLeast, atMost, of, told } from "../measure.mjs";
import { allowed, blocked, context, sessionStart } from "../sidecar.mjs";
import { ratio } from "../statistics.mjs";

/** The package tells the model everything at each turn; so do we here, to compare the same. */
const EVERY_TURN = "{ context: 'every-turn' }";

/** P4: where a call is more than a look, a process of its own wins. */
export async function* biggerCalls(bench) {
  yield* contextMessage(bench);
  yield* longList(bench);
  yield* smallCalls(bench);
}

/** Texts speak of the task and the phase: the package puts that in at each turn, we do when the phase is entered. */
const WITH_VARIABLES = { variables: 1000 };

async function* contextMessage(bench) {
  const length = 20_000;
  const place = bench.projects.take({ instructions: length, ...WITH_VARIABLES, settings: EVERY_TURN });
  const [sidecar, package_] = [await bench.sidecar(place), await bench.package(place)];
  await sidecar.run();
  await package_.run();
  const shareOf = async (child) => {
    const { share } = await bench.timesAsFast(
      child,
      context(length),
      bench.size(2000, 10),
      package_,
      { hook: "before_agent_start", event: { prompt: "Go on." } },
      { calls: bench.size(500, 2), batch: 4, check: (result) => result.message.content.length > length },
    );
    return share;
  };
  yield atMost("before_agent_start of 20 KB, of the package in process", 0.5, await shareOf(sidecar));
  const ready = await bench.readyFloor(sidecar, context(length));
  yield told("the same answer, ready, from the floor, of the package in process", await shareOf(ready));
}

async function* longList(bench) {
  const place = bench.projects.take({ list: 1000 });
  const [sidecar, package_] = [await bench.sidecar(place), await bench.package(place)];
  await sidecar.run();
  await package_.run();
  const shareOf = async (child) => {
    const { share } = await bench.timesAsFast(
      child,
      blocked(),
      bench.size(2000, 10),
      package_,
      { hook: "tool_call", event: { toolName: "write", input: {} } },
      { calls: bench.size(500, 2), batch: 10, check: (result) => result.block },
    );
    return share;
  };
  yield atMost("tool_call blocked by a list of 1000, of the package in process", 0.6, await shareOf(sidecar));
  const ready = await bench.readyFloor(sidecar, blocked());
  yield told("that answer, ready, from the floor, of the package in process", await shareOf(ready));
}

/** Where the package is the faster one: no goal, but to be known. */
async function* smallCalls(bench) {
  const place = bench.projects.take();
  const [sidecar, package_] = [await bench.sidecar(place), await bench.package(place)];
  await sidecar.run();
  await package_.run();
  /** @type {[string, any, string][]} */
  const cases = [["allowed", allowed(), "read"], ["blocked", blocked(), "write"]];
  for (const [name, request, tool] of cases) {
    const { share } = await bench.timesAsFast(
      sidecar,
      request,
      bench.size(2000, 10),
      package_,
      { hook: "tool_call", event: { toolName: tool, input: {} } },
      { calls: bench.size(200, 2), batch: 1000 },
    );
    yield told(`tool_call ${name}, of the package in process`, share);
  }
}

/** P5: a session begins without reading everything. */
export async function* sessionBegins(bench) {
  const thousand = bench.size(1000, 30);
  const place = bench.projects.take({ workflows: thousand });
  const [sidecar, package_] = [await bench.sidecar(place), await bench.package(place)];
  const branch = await sidecar.run();
  await package_.order("branch", { branch: await package_.run() });
  const start = { hook: "session_start", event: {} };
  const { faster } = await bench.timesAsFast(sidecar, sessionStart(branch), bench.size(5, 1), package_, start, { calls: bench.size(2, 1) });
  yield atLeast(`session_start, ${thousand} workflows, times as fast as the package`, 1000, faster);
  await bench.stop();

  const [few, many] = [10, bench.size(5000, 60)];
  const one = await bench.sidecar(bench.projects.take({ workflows: few }));
  const other = await bench.sidecar(bench.projects.take({ workflows: many }));
  const [oneBranch, otherBranch] = [await one.run(), await other.run()];
  const [bigger, smaller] = await bench.against(other, sessionStart(otherBranch), one, sessionStart(oneBranch), bench.size(5, 1));
  yield atMost(`session_start, ${few} to ${many} workflows`, 1.25, ratio(of(bigger, "p50"), of(smaller, "p50")));
}

/** P6: all workflows, with everything that is wrong with them; and a name that is typed. */
export async function* everything(bench) {
  for (const [full, quick, least] of [[1000, 30, 20], [5000, 60, 25]]) {
    const workflows = bench.size(full, quick);
    const place = bench.projects.take({ workflows });
    const [sidecar, package_] = [await bench.sidecar(place), await bench.package(place)];
    await package_.run();
    await sidecar.run();
    const all = { method: "workflow/list", params: {}, check: (result) => result?.workflows.length === workflows };
    const index = { hook: "session_start", event: {} };
    const { faster } = await bench.timesAsFast(sidecar, all, bench.size(3, 1), package_, index, { calls: 1 });
    yield atLeast(`all of ${workflows} workflows, times as fast as the package`, least, faster);
    const [reading, theirs] = await inTurn(bench.rounds, () => timeToRead(place), () => package_.time(index, { calls: 1 }));
    yield told(`reading the files of ${workflows} workflows and nothing else, times as fast as the package`, ratio(theirs, reading));
    if (full === 1000) yield* completion(bench, sidecar, package_);
    await bench.stop();
  }
}

/** Every file of the workflows, read by Node; what is in it is nobody's business. */
function timeToRead({ agentDir }) {
  const start = now();
  const entries = readdirSync(join(agentDir, "workflows"), { recursive: true, withFileTypes: true });
  for (const entry of entries) if (entry.isFile()) readFileSync(join(entry.parentPath ?? entry.path, entry.name));
  return now() - start;
}

async function* completion(bench, sidecar, package_) {
  const typed = {
    method: "command/complete",
    params: { name: "workflow", prefix: "other-1" },
    check: (result) => result?.items.length > 0,
  };
  const { faster } = await bench.timesAsFast(
    sidecar,
    typed,
    bench.size(50, 2),
    package_,
    { complete: "other-1" },
    { calls: bench.size(2, 1), check: (result) => result.length > 0 },
  );
  yield atLeast("completion after the first, times as fast as the package", 1000, faster);
}
