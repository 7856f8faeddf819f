/**
 * Hosts that ship everything: a whole conversation, a whole branch.
 *
 * @module
 */

import { inTurn } from "../arms.mjs";
import { now } from "../child.mjs";
import { atLeast, atMost, told } from "../measure.mjs";
import { prose } from "../project.mjs";
import { sessionStart } from "../sidecar.mjs";
import { figure, ratio } from "../statistics.mjs";
import { leafWalk, list, treeOf } from "../tree.mjs";

const MIB = 1024 * 1024;

/** What an agent_end of so many bytes carries. */
export function conversation(bytes) {
  const said = { role: "user", content: prose(1000) };
  const messages = Array(Math.ceil(bytes / 1030)).fill(said);
  return { event: { messages: [...messages, { role: "assistant", stopReason: "aborted", content: [] }] } };
}

/** The time for one answer to a line that lies ready. */
async function timed(child, line, check) {
  const start = now();
  const answer = await child.send(line);
  const time = now() - start;
  if (!check(answer.result)) throw new Error(`a wrong answer to a long line: ${JSON.stringify(answer).slice(0, 300)}`);
  return time;
}

/** P7: only the end of a conversation is read. */
export async function* agentEnd(bench) {
  const sidecar = await bench.sidecar(bench.projects.take());
  await sidecar.run();
  const floor = bench.floor();
  const idle = sidecar.memory("VmRSS");
  for (const [size, repeats] of [[2, 20], [50, 1]]) {
    const line = Buffer.from(sidecar.line("hook/agent_end", conversation(bench.size(size, 1) * 1e6)));
    const [ours, least] = await inTurn(
      bench.rounds,
      () => several(bench.size(repeats, 1), () => timed(sidecar, line, (result) => result?.mutation?.unload === false)),
      () => several(bench.size(repeats, 1), () => timed(floor, line, (result) => result === null)),
    );
    yield atMost(`agent_end of ${size} MB, of the floor of the same line`, 1.05, ratio(ours, least));
    if (size !== 50) continue;
    await new Promise((resolve) => setTimeout(resolve, 300));
    yield atMost("agent_end of 50 MB, memory at most beyond the line", 10, figure([sidecar.memory("VmHWM") - line.length / MIB]), "MiB");
    yield atMost("agent_end of 50 MB, memory after it beyond idle", 2, figure([sidecar.memory("VmRSS") - idle]), "MiB");
  }
}

async function several(times, run) {
  const start = now();
  for (let i = 0; i < times; i++) await run();
  return now() - start;
}

/** P8: of a branch only the newest entries count. */
export async function* branch(bench) {
  const length = bench.size(100_000, 300);
  yield* shippedWhole(bench, length);
  yield* throughTheShim(bench, length);
}

async function* shippedWhole(bench, length) {
  const sidecar = await bench.sidecar(bench.projects.take(), ["--max-line", "268435456"]);
  const entries = await sidecar.run();
  const floor = bench.floor();
  const request = sessionStart(list(entries, length));
  const line = Buffer.from(sidecar.line(request.method, request.params));
  const [ours, least] = await inTurn(
    bench.rounds,
    () => timed(sidecar, line, request.check),
    () => timed(floor, line, (result) => result === null),
  );
  yield atMost(`session_start with ${length} entries, of the floor of the same line`, 1.15, ratio(ours, least));
  await bench.stop();
}

async function* throughTheShim(bench, length) {
  const place = bench.projects.take();
  const walk = await leafWalk();
  for (const [where, at, least] of [["at the beginning", 0, 30], ["at the end", 1, 1000]]) {
    const [sidecar, package_] = [await bench.sidecar(place), await bench.package(place)];
    const { entryTypes: types } = sidecar.manifest;
    const entries = await sidecar.run();
    const tree = await treeOf(entries, length, at);
    await package_.order("branch", { branch: await package_.run() });
    await package_.order("tree", { entries: length, at });
    const walked = async () => {
      const start = now();
      const request = sessionStart(walk(tree, types));
      const result = await sidecar.call(request.method, request.params);
      const time = now() - start;
      if (!request.check(result)) throw new Error(`the run was not found ${where} of the branch`);
      return time;
    };
    const onlyWalked = async () => {
      const start = now();
      walk(tree, types);
      return now() - start;
    };
    const theirTime = () => package_.time({ hook: "session_start", event: {} }, { calls: 1 });
    const [ours, alone, theirs] = await inTurn(bench.rounds, walked, onlyWalked, theirTime);
    yield atLeast(`session_start with ${length} entries and the run ${where}, through pi, times as fast as the package`, least, ratio(theirs, ours));
    yield told(`the way through pi's entries alone, the run ${where}, times as fast as the package`, ratio(theirs, alone));
    await bench.stop();
  }
}
