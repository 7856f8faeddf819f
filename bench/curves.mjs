/**
 * Cost against size: what grows, and how. The unit is a call of the floor, so that the machine is
 * not in it.
 *
 * @module
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { inTurn } from "./arms.mjs";
import { now } from "./child.mjs";
import { conversation } from "./goals/long-lines.mjs";
import { svg } from "./plot.mjs";
import { prose } from "./project.mjs";
import { allowed, blocked, context, sessionStart, unanswered } from "./sidecar.mjs";
import { median } from "./statistics.mjs";
import { leafWalk, treeOf } from "./tree.mjs";

const MAX_LINE = ["--max-line", "268435456"];
const EVERY_TURN = "{ context: 'every-turn' }";

/** @typedef {() => Promise<number>} Arm  microseconds a call */
/** @typedef {{file: string, title: string, x: string, sizes: number[], quick: number[], arms: (bench: import("./measure.mjs").Bench, size: number) => Promise<Record<string, Arm>>}} Curve */

/** @type {Curve[]} */
const CURVES = [
  {
    file: "tool-call-workflows",
    title: "A blocked tool call, by the number of workflows",
    x: "workflows",
    sizes: [10, 100, 1000, 5000],
    quick: [10, 30],
    arms: (bench, workflows) => ofCall(bench, { workflows }),
  },
  {
    file: "session-start-workflows",
    title: "The start of a session, by the number of workflows",
    x: "workflows",
    sizes: [10, 100, 1000, 5000],
    quick: [10, 30],
    arms: (bench, workflows) => ofStart(bench, { workflows }),
  },
  {
    file: "session-start-phases",
    title: "The start of a session, by the phases of the workflow",
    x: "phases",
    sizes: [1, 10, 100, 1000],
    quick: [1, 10],
    arms: (bench, phases) => ofStart(bench, { phases }),
  },
  {
    file: "tool-call-depth",
    title: "A blocked tool call, by the depth of subworkflows",
    x: "workflows inside each other",
    sizes: [1, 2, 5, 10, 30],
    quick: [1, 3],
    arms: (bench, depth) => ofCall(bench, { depth, workflows: depth }),
  },
  {
    file: "tool-call-list",
    title: "A blocked tool call, by the length of the list",
    x: "tools on the list",
    sizes: [1, 10, 100, 1000, 10_000],
    quick: [1, 10],
    arms: (bench, list) => ofCall(bench, { list }),
  },
  {
    file: "before-agent-start-text",
    title: "The context message in full, by the length of the phase's text",
    x: "characters",
    sizes: [100, 1000, 10_000, 100_000],
    quick: [100, 1000],
    arms: ofContext,
  },
  {
    file: "session-start-branch",
    title: "The start of a session, by the entries of its branch, through pi",
    x: "entries",
    sizes: [10, 100, 1000, 10_000, 100_000],
    quick: [10, 100],
    arms: ofBranch,
  },
  {
    file: "tool-call-input",
    title: "A tool call, by the size of the tool's input",
    x: "bytes",
    sizes: [100, 1000, 10_000, 100_000, 1_000_000],
    quick: [100, 1000],
    arms: ofInput,
  },
  {
    file: "agent-end-conversation",
    title: "The end of the agent, by the size of the conversation",
    x: "bytes",
    sizes: [1000, 10_000, 100_000, 1_000_000, 10_000_000],
    quick: [1000, 10_000],
    arms: ofAgentEnd,
  },
  {
    file: "tool-call-sessions",
    title: "A tool call, by the sessions of one process",
    x: "sessions with a run",
    sizes: [1, 10, 100, 1000],
    quick: [1, 5],
    arms: ofSessions,
  },
];

/** What the curves are called: as their files. */
export const NAMES = CURVES.map(({ file }) => file);

/** Draws curves into a directory, all where none are named. @param {import("./measure.mjs").Bench} bench @param {string} directory @param {string[]} [only] */
export async function draw(bench, directory, only = NAMES) {
  for (const curve of CURVES.filter(({ file }) => only.includes(file))) {
    process.stderr.write(`${curve.title} …\n`);
    const series = await points(bench, curve);
    const picture = { title: curve.title, x: curve.x, y: "calls of the floor", series };
    if (!bench.quick) writeFileSync(join(directory, `${curve.file}.svg`), svg(picture));
  }
}

async function points(bench, { sizes, quick, arms }) {
  /** @type {Map<string, [number, number][]>} */
  const found = new Map();
  for (const size of bench.quick ? quick : sizes) {
    const floor = bench.floor();
    const least = async () => (await floor.pingPong(unanswered(allowed()), bench.size(1000, 5))).p50;
    const named = await arms(bench, size);
    const [unit, ...taken] = await inTurn(bench.rounds, least, ...Object.values(named));
    Object.keys(named).forEach((name, index) => {
      if (!found.has(name)) found.set(name, []);
      found.get(name).push([size, median(taken[index].map((time, round) => time / unit[round]))]);
    });
    await bench.stop();
  }
  return [...found].map(([name, list]) => ({ name, points: list }));
}

const OURS = "workflow-sidecar";
const PACKAGE = "the npm package, in process";

async function both(bench, shape) {
  const place = bench.projects.take(shape);
  const [sidecar, package_] = [await bench.sidecar(place, MAX_LINE), await bench.package(place)];
  return { sidecar, package_, entries: await sidecar.run(), theirEntries: await package_.run() };
}

/** The median call of so many. */
const median50 = (child, request, calls) => async () => (await child.pingPong(request, calls)).p50;

async function ofCall(bench, shape) {
  const { sidecar, package_ } = await both(bench, shape);
  const what = { hook: "tool_call", event: { toolName: "write", input: {} } };
  return {
    [OURS]: median50(sidecar, blocked(), bench.size(1000, 5)),
    [PACKAGE]: () => package_.time(what, { calls: bench.size(50, 2), batch: 100, check: (result) => result.block }),
  };
}

async function ofStart(bench, shape) {
  const { sidecar, package_, entries, theirEntries } = await both(bench, shape);
  await package_.order("branch", { branch: theirEntries });
  return {
    [OURS]: median50(sidecar, sessionStart(entries), bench.size(3, 1)),
    [PACKAGE]: () => package_.time({ hook: "session_start", event: {} }, { calls: 1 }),
  };
}

async function ofContext(bench, instructions) {
  const { sidecar, package_ } = await both(bench, { instructions, settings: EVERY_TURN });
  const what = { hook: "before_agent_start", event: { prompt: "Go on." } };
  return {
    [OURS]: median50(sidecar, context(instructions), bench.size(300, 3)),
    [PACKAGE]: () => package_.time(what, { calls: bench.size(50, 2), batch: 10 }),
  };
}

async function ofBranch(bench, length) {
  const { sidecar, package_, entries, theirEntries } = await both(bench, {});
  const walk = await leafWalk();
  const tree = await treeOf(entries, length, 1);
  await package_.order("branch", { branch: theirEntries });
  await package_.order("tree", { entries: length, at: 1 });
  return {
    [OURS]: async () => {
      const start = now();
      await sidecar.pingPong(sessionStart(walk(tree, sidecar.manifest.entryTypes)), 1);
      return now() - start;
    },
    [PACKAGE]: () => package_.time({ hook: "session_start", event: {} }, { calls: 1 }),
  };
}

async function ofInput(bench, bytes) {
  const { sidecar, package_ } = await both(bench, {});
  const request = allowed({ path: "src/main.rs", content: prose(bytes) });
  const calls = bench.size(bytes > 50_000 ? 20 : 300, 3);
  const floor = bench.floor();
  return {
    [OURS]: median50(sidecar, request, calls),
    [PACKAGE]: () => package_.time({ hook: "tool_call", event: request.params.event }, { calls: bench.size(50, 2), batch: 100 }),
    "the floor, of the same line": median50(floor, unanswered(request), calls),
  };
}

async function ofAgentEnd(bench, bytes) {
  const { sidecar, package_ } = await both(bench, {});
  const request = { method: "hook/agent_end", params: conversation(bytes), check: (result) => result?.mutation?.unload === false };
  const calls = bench.size(bytes > 500_000 ? 3 : 50, 1);
  const floor = bench.floor();
  return {
    [OURS]: median50(sidecar, request, calls),
    [PACKAGE]: () => package_.time({ hook: "agent_end", agentEnd: bytes }, { calls: bench.size(20, 2), batch: 10 }),
    "the floor, of the same line": median50(floor, unanswered(request), calls),
  };
}

/** All of them active: each call is of the next session. */
async function ofSessions(bench, sessions) {
  const sidecar = await bench.sidecar(bench.projects.take());
  for (let i = 0; i < sessions; i++) await sidecar.run(`session-${i}`);
  const calls = bench.size(1000, sessions);
  const taken = async (requestOf) => {
    const times = [];
    for (let i = 0; i < calls; i++) times.push((await sidecar.pingPong(requestOf(i), 1)).p50);
    return median(times);
  };
  return {
    "one of them active": () => taken(() => allowed(undefined, "session-0")),
    "all of them active": () => taken((i) => allowed(undefined, `session-${i % sessions}`)),
  };
}
