/**
 * The goals: the measured case, its reference, and the bound.
 *
 * @module
 */

import { execFileSync } from "node:child_process";

import { Child, now } from "./child.mjs";
import { charactersForTheModel } from "./model-context.mjs";
import { agentEnd, agentStart, allowed, blocked, branchOf, command, commands, completion, emptyStart, initialize, loopStart, sessionStart, shortCommand } from "./sidecar.mjs";
import { atLeast, atMost, figure, inTurn, median, ratio } from "./statistics.mjs";

const LONG_LINES = { options: ["--max-line", "268435456"] };

/** @type {{id: string, title: string, rows: (bench: import("./measure.mjs").Bench) => AsyncGenerator<import("./statistics.mjs").Row>}[]} */
export const CASES = [
  { id: "tool-call", title: "a tool call, against the transport floor", rows: toolCall },
  { id: "constant", title: "a tool call, against the same call in a small project", rows: constant },
  { id: "session-start", title: "the start of a session, against the npm package", rows: start },
  { id: "loop", title: "the start of a session in a loop, more than without a run", rows: loop },
  { id: "agent-start", title: "the context of a phase, against the npm package", rows: agentStarts },
  { id: "completion", title: "completing a workflow's name, against the npm package", rows: complete },
  { id: "agent-end", title: "the end of the agent, against the transport floor", rows: end },
  { id: "process", title: "memory and start of the process", rows: process_ },
  { id: "shell", title: "the verdict on a shell line", rows: shell },
  { id: "model", title: "text for the model, against the npm package", rows: model },
];

async function* toolCall(bench) {
  const sidecar = await bench.sidecar(bench.projects.take());
  await sidecar.run();
  const calls = bench.size(4000, 20);
  yield atMost("tool_call allowed, of the floor", 1.4, await bench.perFloor(sidecar, allowed(), calls));
  yield atMost("tool_call blocked, of the floor", 1.6, await bench.perFloor(sidecar, blocked(), calls));
  yield atMost("tool_call of bash with 60 bytes, of the floor", 2, await bench.perFloor(sidecar, shortCommand(), calls));
  const idle = await bench.sidecar(bench.projects.take());
  await idle.call("hook/session_start", { context: { hasUI: false, branch: [] } });
  yield atMost("tool_call of bash with 60 bytes without a run, of the floor", 1.6, await bench.perFloor(idle, shortCommand(), calls));
  yield atMost("tool_call with a command of 20 KB, of the floor", 2.5, await bench.perFloor(sidecar, command(20_000), bench.size(2000, 10)));
}

async function* constant(bench) {
  const few = await bench.sidecar(bench.projects.take({ patterns: 100 }));
  await few.run();
  const many = await bench.sidecar(bench.projects.take({ patterns: 5000 }));
  await many.run();
  const lines = bench.size(500, 10);
  const [ofMany, ofFew] = await inTurn(bench.rounds, () => many.pingPong(commands(100), lines), () => few.pingPong(commands(100), lines));
  yield atMost("tool_call with 100 commands, 100 to 5000 patterns of commands", 1.1, ratio(ofMany, ofFew));
  await bench.stop();
  const [workflows, list, entries] = [bench.size(1000, 30), bench.size(1000, 30), bench.size(100_000, 100)];
  /** @type {[string, import("./project.mjs").Shape, number][]} */
  const cases = [
    [`10 to ${workflows} workflows`, { workflows }, 0],
    ["depth 1 to 10", { depth: 10, workflows: 20 }, 0],
    [`a list of 2 to ${list} tools`, { list }, 0],
    [`a branch of 0 to ${entries} entries`, {}, entries],
  ];
  for (const [name, shape, length] of cases) {
    const small = await bench.sidecar(bench.projects.take());
    await small.run();
    const big = await bench.sidecar(bench.projects.take(shape), LONG_LINES);
    await big.run(branchOf(length));
    for (const [kind, request] of [["allowed", allowed()], ["blocked", blocked()]]) {
      const calls = bench.size(3000, 20);
      const [more, less] = await inTurn(bench.rounds, () => big.pingPong(request, calls), () => small.pingPong(request, calls));
      yield atMost(`tool_call ${kind}, ${name}`, 1.1, ratio(more, less));
    }
    await bench.stop();
  }
}

async function* start(bench) {
  for (const workflows of [10, bench.size(100, 20), bench.size(1000, 30)]) {
    const directories = bench.projects.take({ workflows });
    const [sidecar, package_] = [await bench.sidecar(directories), await bench.package(directories)];
    const branch = await sidecar.run();
    await package_.order("branch", { branch: await package_.run() });
    const calls = bench.size(workflows > 100 ? 3 : 20, 1);
    const event = { hook: "session_start", event: {} };
    const { faster, time } = await bench.perPackage(sidecar, sessionStart(branch), calls, package_, event, { calls: bench.size(2, 1) });
    yield atLeast(`session_start with ${workflows} workflows, times as fast as the package`, 5, faster);
    if (workflows === 100) yield atMost("session_start with 100 workflows", 30, milliseconds(time), "ms");
    await bench.stop();
  }
}

async function* loop(bench) {
  const [items, outputs] = [bench.size(100, 3), bench.size(64, 2)];
  const sidecar = await bench.sidecar(bench.projects.take({ outputs }), LONG_LINES);
  const branch = await sidecar.loop(items, outputs);
  // A host has all entries; the engine reads the newest of each kind.
  const newest = branch.filter((entry, at) => !branch.slice(at + 1).some((other) => other.customType === entry.customType));
  const calls = bench.size(20, 1);
  const [restored, without] = await inTurn(bench.rounds, () => sidecar.pingPong(loopStart(newest, items), calls), () => sidecar.pingPong(emptyStart(), calls));
  const more = figure(restored.map((time, at) => time - without[at]));
  yield atMost(`session_start in a loop over ${items} items with ${outputs} outputs`, 5, milliseconds(more), "ms");
}

const milliseconds = ({ value, low, high }) => ({ value: value / 1000, low: low / 1000, high: high / 1000 });

async function* agentStarts(bench) {
  const directories = bench.projects.take({ instructions: 20_000 });
  const [sidecar, package_] = [await bench.sidecar(directories), await bench.package(directories)];
  await sidecar.run();
  await package_.run();
  const calls = bench.size(500, 2);
  const how = { calls, check: (result) => JSON.stringify(result).length > 20_000 };
  const event = { hook: "before_agent_start", event: { prompt: "Continue.", systemPrompt: "" } };
  const request = agentStart();
  await sidecar.call(request.first.method, request.first.params);
  const floor = bench.floor([JSON.stringify(await sidecar.call(request.method, request.params))]);
  yield atMost("before_agent_start with a context of 20 KB, of the floor with the same answer", 1.5, await bench.ratio(sidecar, request, floor, request, calls));
  const { faster } = await bench.perPackage(sidecar, request, calls, package_, event, how);
  yield atMost("before_agent_start with a context of 20 KB, of the package's time", 0.6, inverse(faster));
}

const inverse = ({ value, low, high }) => ({ value: 1 / value, low: 1 / high, high: 1 / low });

async function* complete(bench) {
  const directories = bench.projects.take({ workflows: bench.size(1000, 30) });
  const [sidecar, package_] = [await bench.sidecar(directories), await bench.package(directories)];
  await sidecar.run();
  await package_.run();
  const how = { calls: bench.size(2, 1), check: (result) => result.length > 0 };
  const { faster } = await bench.perPackage(sidecar, completion("other-1"), bench.size(50, 2), package_, { complete: "other-1" }, how);
  yield atLeast("completion, times as fast as the package", 1000, faster);
}

async function* end(bench) {
  const sidecar = await bench.sidecar(bench.projects.take());
  await sidecar.run();
  const request = agentEnd(bench.size(2_000_000, 20_000));
  yield atMost("agent_end of 2 MB, of the floor", 2.5, await bench.perFloor(sidecar, request, bench.size(20, 1)));
}

/** A Node program that answers every line with null. */
const NODE = `
let rest = "";
process.stdin.setEncoding("utf8").on("data", (text) => {
  const lines = (rest + text).split("\\n");
  rest = lines.pop();
  for (const line of lines) process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(line).id, result: null }) + "\\n");
});`;

async function* process_(bench) {
  const directories = bench.projects.take({ workflows: 1 });
  const sidecar = await bench.sidecar(directories);
  await sidecar.call("hook/session_start", sessionStart([]).params);
  await new Promise((resolve) => setTimeout(resolve, 200)); // The threads of the start have ended after this.
  yield atMost("memory, idle with one session", 5, figure([sidecar.memory()]), "MiB");

  const params = initialize(directories);
  const [ours, node] = await inTurn(
    bench.rounds,
    () => medianOf(bench.size(20, 1), () => firstAnswer([bench.binary, "serve"], params)),
    () => medianOf(bench.size(3, 1), () => firstAnswer([process.execPath, "-e", NODE], params)),
  );
  yield atLeast("spawn to first answer, times as fast as node", 30, ratio(node, ours));
}

async function medianOf(times, run) {
  const samples = [];
  for (let i = 0; i < times; i++) samples.push(await run());
  return median(samples);
}

/** Measures the time from spawning a program to its first answer. */
async function firstAnswer(program, params) {
  const start = now();
  const child = new Child(program);
  await child.call("initialize", params);
  const time = now() - start;
  await child.stop();
  return time;
}

async function* shell(bench) {
  if (bench.quick) return; // It builds a program of its own.
  const run = () => JSON.parse(execFileSync("cargo", ["run", "--quiet", "--profile", "dist", "--locked", "-p", "workflow-shell", "--example", "speed"], { encoding: "utf8" }));
  const runs = Array.from({ length: bench.rounds }, run);
  yield atMost("verdict on a typical shell line", 30, figure(runs.map(({ median }) => median)), "µs");
  yield atMost("verdict on the slowest line of 100 KB", 300, figure(runs.map(({ longest }) => longest / 1000)), "ms");
}

async function* model(bench) {
  yield atMost("characters for the model over a run, of the package", 0.25, figure([await charactersForTheModel(bench)]));
}
