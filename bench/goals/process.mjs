/**
 * What a process costs: to start, to keep, and to start anew for every event.
 *
 * @module
 */

import { inTurn } from "../arms.mjs";
import { Child, now } from "../child.mjs";
import { atLeast, atMost, told } from "../measure.mjs";
import { allowed, initialize, unanswered } from "../sidecar.mjs";
import { figure, median, ratio } from "../statistics.mjs";

/** A Node program that does what the floor does. */
const NODE_ECHO = `
let rest = "";
process.stdin.setEncoding("utf8").on("data", (text) => {
  const lines = (rest + text).split("\\n");
  rest = lines.pop();
  for (const line of lines) process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(line).id, result: null }) + "\\n");
});`;

/** From spawning a program to its first answer; ended, its process counts as well if it is asked for. */
async function firstAnswer(command, params, { ended = false } = {}) {
  const start = now();
  const child = new Child(command);
  const answer = await child.send(child.line("initialize", params));
  const time = now() - start;
  if (answer.error) throw new Error(`${command[0]}: ${answer.error.message}`);
  await child.stop();
  return ended ? now() - start : time;
}

async function medianOf(times, run) {
  const taken = [];
  for (let i = 0; i < times; i++) taken.push(await run());
  return median(taken);
}

/** P9, its first half: it is there when it is wanted. */
export async function* startUp(bench) {
  const params = initialize(bench.projects.take());
  const times = bench.size(20, 1);
  const [ours, least, linked, node] = await inTurn(
    bench.rounds,
    () => medianOf(times, () => firstAnswer([bench.binary, "serve"], params)),
    () => medianOf(times, () => firstAnswer([bench.floorProgram], params)),
    () => medianOf(times, () => firstAnswer([bench.linkedFloorProgram], params)),
    () => medianOf(bench.size(3, 1), () => firstAnswer([process.execPath, "-e", NODE_ECHO], params)),
  );
  yield atMost("spawn to first answer, of the floor", 1.2, ratio(ours, least));
  yield told("spawn to first answer, of the floor linked as the sidecar is", ratio(ours, linked));
  yield atLeast("spawn to first answer, times as fast as node", 30, ratio(node, ours));
  yield told("the floor's, times as fast as node", ratio(node, least));
}

/** P9, its other half: it takes little memory. */
export async function* memory(bench) {
  const idle = await bench.sidecar(bench.projects.take({ workflows: 1 }));
  await idle.call("hook/session_start", { context: { hasUI: false, branch: [] } });
  await settled();
  yield atMost("memory, idle with one session", 3.5, figure([idle.memory("VmRSS")]), "MiB");
  yield told("memory, idle with one session, without the code of the program", figure([idle.memory("RssAnon")]), "MiB");

  const workflows = bench.size(1000, 30);
  const indexed = await bench.sidecar(bench.projects.take({ workflows }));
  await indexed.call("hook/session_start", { context: { hasUI: false, branch: [] } });
  await indexed.call("workflow/list", {});
  await settled();
  const before = idle.memory("VmRSS");
  yield atMost(`memory, ${workflows} workflows, beyond idle`, 9, figure([indexed.memory("VmRSS") - before]), "MiB");

  const sessions = bench.size(1000, 20);
  for (let i = 0; i < sessions; i++) await idle.run(`session-${i}`);
  await settled();
  yield atMost(`memory, ${sessions} idle sessions with a run, beyond idle`, 10, figure([idle.memory("VmRSS") - before]), "MiB");
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 200));

/** P11: a process that stays, and one for every event. */
export async function* perEvent(bench) {
  const sidecar = await bench.sidecar(bench.projects.take());
  await sidecar.run();
  const times = bench.size(20, 1);
  const params = initialize(bench.projects.take());
  const floor = bench.floor();
  const [stays, floorStays, least, own, node] = await inTurn(
    bench.rounds,
    async () => (await sidecar.pingPong(allowed(), bench.size(1000, 5))).p50,
    async () => (await floor.pingPong(unanswered(allowed()), bench.size(1000, 5))).p50,
    () => medianOf(times, () => firstAnswer([bench.floorProgram], params, { ended: true })),
    () => medianOf(times, () => firstAnswer([bench.binary, "serve"], params, { ended: true })),
    () => medianOf(bench.size(3, 1), () => firstAnswer([process.execPath, "-e", NODE_ECHO], params, { ended: true })),
  );
  yield atLeast("a process per event that does nothing, in calls of ours", 150, ratio(least, stays));
  yield told("a process per event that does nothing, in calls of the floor", ratio(least, floorStays));
  yield told("a process of ours per event, in calls of ours", ratio(own, stays));
  yield told("a node process per event, in calls of ours", ratio(node, stays));
}
