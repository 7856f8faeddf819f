/**
 * `scripts/instructions`: how many instructions the shipped binary takes for a call, as callgrind
 * counts them. They are the same on a busy machine as on an idle one, so a small change shows.
 *
 * Each case is played twice, with more calls the second time: what is between the two is the calls'.
 *
 * @module
 */

import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { conversation } from "./goals/long-lines.mjs";
import { Projects, prose } from "./project.mjs";
import { Sidecar, allowed, blocked, context, initialize, sessionStart } from "./sidecar.mjs";
import { table } from "./table.mjs";

const KEPT = fileURLToPath(new URL("./instructions.json", import.meta.url));
/** How far a count may be from the one that is kept. */
const DRIFT = 0.02;

const { values: options } = parseArgs({
  options: { binary: { type: "string" }, directory: { type: "string" }, bless: { type: "boolean", default: false } },
});

const edit = (path) => ({
  method: "hook/tool_call",
  params: { event: { toolName: "edit", toolCallId: "call-1", input: { path } } },
});
const isEmpty = (result) => Object.keys(result).length === 0;
const EVERY_TURN = "{ context: 'every-turn' }";

/** @type {[string, any, number, import("./child.mjs").Request | ((branch: any[]) => import("./child.mjs").Request)][]} */
const CASES = [
  ["a call about which nothing is decided", {}, 400, { method: "hook/agent_start", params: {}, check: isEmpty }],
  ["tool_call allowed", {}, 400, allowed()],
  ["tool_call blocked", {}, 400, blocked()],
  ["tool_call blocked by a list of 1000", { list: 1000 }, 400, blocked()],
  ["tool_call with 20 KB of input", {}, 100, allowed({ path: "src/main.rs", content: prose(20_000) })],
  ["tool_call allowed by 20 rules on paths", { rules: 20 }, 100, { ...edit("src/main.rs"), check: isEmpty }],
  ["tool_call blocked by the last of 20 rules", { rules: 20 }, 100, { ...edit("kept-19/a.rs"), check: (result) => result.block?.kind === "policy" }],
  ["before_agent_start of 20 KB", { instructions: 20_000, variables: 1000, settings: EVERY_TURN }, 100, context(20_000)],
  ["agent_end of 300 bytes", {}, 400, agentEnd(0)],
  ["agent_end of 100 KB", {}, 50, agentEnd(100_000)],
  ["agent_end of 2 MB", {}, 4, agentEnd(2_000_000)],
  ["session_start, 10 workflows", {}, 20, sessionStart],
  ["session_start, 100 workflows", { workflows: 100 }, 4, sessionStart],
  ["workflow/list, 100 workflows", { workflows: 100 }, 4, { method: "workflow/list", params: {}, check: (result) => result.workflows.length === 100 }],
];

function agentEnd(bytes) {
  return { method: "hook/agent_end", params: conversation(bytes), check: (result) => result.mutation?.unload === false };
}

// Always the same place: the length of a path is in the count.
const projects = new Projects(options.directory);
const counts = {};
try {
  for (const [name, shape, calls, request] of CASES) {
    process.stderr.write(`${name} …\n`);
    counts[name] = await counted(projects.take(shape), calls, request);
  }
} finally {
  projects.remove();
}
process.exitCode = options.bless ? bless() : compare();

/** Instructions a call. */
async function counted(place, calls, request) {
  const branch = await stored(place);
  const asked = typeof request === "function" ? request(branch) : request;
  const [few, many] = [1, 2].map((times) => played(place, branch, asked, calls * times));
  return Math.round((many - few) / calls);
}

/** The entries of a session in which the workflow runs. */
async function stored(place) {
  const sidecar = new Sidecar(options.binary, place, []);
  await sidecar.initialize(place);
  const branch = await sidecar.run();
  await sidecar.stop();
  return branch;
}

/** Instructions of a process that is asked so often. */
function played(place, branch, { method, params, check }, calls) {
  const start = sessionStart(branch);
  const clock = method === start.method ? {} : { clock: { virtual: { now: 1_700_000_000_000, seed: 1 } } };
  const told = { ...initialize(place), ...clock };
  const requests = [["initialize", told], [start.method, start.params], ...Array(calls).fill([method, params])];
  const input = requests.map(([method, params], id) => `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`).join("");
  const program = ["--tool=callgrind", "--callgrind-out-file=/dev/null", options.binary, "serve", "--max-line", "67108864"];
  const { stdout, stderr, error } = spawnSync("valgrind", program, { input, cwd: place.cwd, encoding: "utf8", maxBuffer: 1 << 28 });
  if (error) throw error;
  const answers = stdout.trimEnd().split("\n").map((line) => JSON.parse(line)).slice(2);
  if (answers.length !== calls || !answers.every((answer) => answer.result && check(answer.result))) {
    throw new Error(`${method}: a wrong answer: ${JSON.stringify(answers.at(-1)).slice(0, 500)} ${stderr.slice(-500)}`);
  }
  return Number(/Collected : (\d+)/.exec(stderr)[1]);
}

/** What a count hangs on beside the code: compiler, C library, and what the processor offers to both. */
function machine() {
  const first = (program, ...args) => execFileSync(program, args, { encoding: "utf8" }).split("\n")[0];
  const flags = /^flags\s*:(.*)$/m.exec(readFileSync("/proc/cpuinfo", "utf8"))?.[1].split(" ") ?? [];
  const counting = ["sse4_2", "avx", "avx2", "avx512f", "bmi2", "erms"].filter((flag) => flags.includes(flag));
  return { compiler: first("rustc", "--version"), library: first("ldd", "--version"), processor: counting.join(" ") };
}

function compare() {
  const { machine: theirs, counts: kept } = JSON.parse(readFileSync(KEPT, "utf8"));
  const rows = Object.entries(counts).map(([name, count]) => {
    const change = count / kept[name] - 1;
    const percent = Number.isFinite(change) ? `${(change * 100).toFixed(1)} %` : "new";
    const verdict = Math.abs(change) <= DRIFT ? "" : change < 0 ? "fewer: bless it" : "MORE";
    return { cells: ["", name, String(count), percent, "", verdict], isKept: verdict === "" };
  });
  console.log(table(rows.map(({ cells }) => cells), ["", "instructions a call", "now", "change", "", ""]));
  const gone = Object.keys(kept).filter((name) => !(name in counts));
  if (gone.length > 0) console.log(`no case any more: ${gone.join(", ")}`);
  if (rows.every(({ isKept }) => isKept) && gone.length === 0) return 0;
  if (JSON.stringify(theirs) !== JSON.stringify(machine())) {
    console.log(`\nThe counts that are kept are of another machine, so nothing follows from a difference: ${JSON.stringify(theirs)}`);
    return 0;
  }
  console.log(`\nMore than ${DRIFT * 100} % from bench/instructions.json. If it is meant: scripts/instructions --bless`);
  return 1;
}

function bless() {
  writeFileSync(KEPT, `${JSON.stringify({ machine: machine(), counts }, null, 2)}\n`);
  console.log(`kept in bench/instructions.json: ${Object.keys(counts).length} counts`);
  return 0;
}
