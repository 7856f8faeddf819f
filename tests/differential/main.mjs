/**
 * The command line of scripts/differential.
 *
 * @module
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { DIFFERENCES } from "./differences.mjs";
import { Disk } from "./disk.mjs";
import { entangled } from "./differences/files.mjs";
import { generate } from "./generate.mjs";
import { StandIn, MUTATIONS } from "./stand-in.mjs";
import { SidecarPool } from "./sidecar-host.mjs";
import { PackageHost } from "./package-host.mjs";
import { mix } from "./random.mjs";
import { difference, kindOf, Totals } from "./report.mjs";
import { CaseRun } from "./session.mjs";
import { shrink } from "./shrink.mjs";

const { values: options } = parseArgs({
  options: {
    count: { type: "string", default: "500" },
    seed: { type: "string" },
    case: { type: "string" },
    theme: { type: "string" },
    binary: { type: "string" },
    "self-check": { type: "boolean", default: false },
    "most-failures": { type: "string", default: "5" },
    list: { type: "boolean", default: false },
  },
});

if (options.list) {
  for (const [id, says] of DIFFERENCES) console.log(`${id}: ${says}`);
  process.exit(0);
}

const base = mkdtempSync(join(tmpdir(), "differential-"));
const packageHost = new PackageHost();
let caseCount = 0;

/**
 * Plays a case with the given side as ours.
 *
 * @param {import("./types.mjs").Case} case_
 * @param {{take: (options: any) => any, release?: (side: any) => void}} others
 * @returns {Promise<import("./session.mjs").Report>}
 */
async function play(case_, others) {
  const root = join(base, String(caseCount++));
  const disks = { packageDisk: new Disk(join(root, "package")), oursDisk: new Disk(join(root, "ours")) };
  disks.oursDisk.write(case_.definitions);
  const { cwd, agentDir } = disks.oursDisk;
  const shared = Object.keys(case_.definitions.global).length === 0;
  const ours = others.take({ cwd, agentDir, now: case_.now, seed: case_.seed, hasUI: case_.hasUI, shared });
  try {
    return await new CaseRun(case_, { packageHost, ours, ...disks }).run();
  } catch (error) {
    throw new Error(`the harness failed in case ${case_.seed}`, { cause: error });
  } finally {
    others.release?.(ours);
    rmSync(root, { recursive: true, force: true });
  }
}

/**
 * Plays a case on the package alone with the unchanged definitions: some make it hang.
 *
 * @param {import("./types.mjs").Case} case_
 * @returns {Promise<{seen: string, ids: Set<string>} | null>} the failure and its known causes
 */
async function probe(case_) {
  const disk = new Disk(join(base, String(caseCount++)));
  disk.write(case_.definitions);
  await packageHost.open({ cwd: disk.cwd, agentDir: disk.agentDir, now: case_.now, seed: case_.seed });
  const found = await packageHost.survey(disk.tiers);
  const { ids } = entangled(Object.assign(Object.create(null), found?.global, found?.project));
  let seen = null;
  for (const operation of case_.operations) {
    const { died, effects } = await packageHost.apply(operation, []);
    if (died) seen = "package hung or ran out of memory";
    else if (effects.some((e) => e.kind === "throws" && e.text.startsWith("RangeError"))) seen = "package overflowed its stack";
    if (seen) break;
  }
  disk.remove();
  return seen ? { seen, ids } : null;
}

/** Plays one case, with its probe. */
async function judge(case_, others) {
  const found = case_.theme === "entangled" ? await probe(case_) : null;
  const report = await play(case_, others);
  if (found) {
    report.seen.add(found.seen);
    const known = [...found.ids].filter((id) => ["B08", "B09"].includes(id));
    for (const id of known) report.intended.set(id, (report.intended.get(id) ?? 0) + 1);
    if (known.length === 0) report.unexplained ??= { index: 0, operation: case_.operations[0], package: [], expected: [], actual: [], why: found.seen, diagnostics: [] };
  }
  return report;
}

function* seeds() {
  if (options.case !== undefined) {
    yield Number(options.case);
    return;
  }
  for (let i = 0; i < Number(options.count); i++) yield mix(seed, i);
}

function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}

/** Compares the package with ours. @returns {Promise<boolean>} true if there is no unexplained difference */
async function compare(others) {
  const totals = new Totals();
  const shown = new Set();
  const begun = Date.now();
  for (const caseSeed of seeds()) {
    const case_ = generate(caseSeed, options.theme);
    const report = await judge(case_, others);
    totals.add(case_, report);
    progress(`${totals.cases} cases, ${totals.unexplained.length} unexplained`);
    if (!report.unexplained || shown.size >= Number(options["most-failures"])) continue;
    const kind = kindOf(report.unexplained);
    if (shown.has(kind)) continue;
    shown.add(kind);
    const small = await shrink(case_, async (c) => {
      const { unexplained } = await play(c, others);
      return unexplained !== null && kindOf(unexplained) === kind;
    });
    progress("");
    console.log(difference(small, (await play(small, others)).unexplained ?? report.unexplained, options.theme));
  }
  progress("");
  console.log(totals.summary(seed, (Date.now() - begun) / 1000));
  return totals.unexplained.length === 0;
}

/** Checks the comparison: a correct stand-in must pass, a faulty one must not. */
async function selfCheck() {
  const counts = new Map();
  let missed = 0;
  for (const caseSeed of seeds()) {
    const case_ = generate(caseSeed, options.theme);
    const sound = await play(case_, { take: () => new StandIn(case_.now, null) });
    if (sound.unexplained) {
      console.log(difference(case_, sound.unexplained));
      missed++;
    }
    for (const mutation of Object.keys(MUTATIONS)) {
      const standIn = new StandIn(case_.now, { mutation, seed: caseSeed, skip: mix(caseSeed, 7) % 40 });
      const { unexplained } = await play(case_, { take: () => standIn });
      if (!standIn.made) continue;
      const key = `${mutation}: ${standIn.made.kind}`;
      const count = counts.get(key) ?? { made: 0, detected: 0 };
      count.made++;
      if (unexplained) count.detected++;
      else {
        missed++;
        console.log(`not detected: ${mutation}, ${JSON.stringify(standIn.made)}; scripts/differential --self-check --case ${caseSeed}`);
      }
      counts.set(key, count);
    }
    progress(`case ${caseSeed}, ${missed} missed`);
  }
  progress("");
  for (const [key, { made, detected }] of [...counts].sort(([a], [b]) => (a < b ? -1 : 1))) console.log(`  ${detected}/${made} detected  ${key}`);
  console.log(`seed ${seed}: ${missed === 0 ? "every fault was detected" : `${missed} problems`}`);
  return missed === 0;
}

const seed = options.seed === undefined ? Date.now() % 1_000_000 : Number(options.seed);
const pool = new SidecarPool(String(options.binary), join(base, "nowhere"));
process.on("exit", () => {
  pool.stop();
  packageHost.stop();
  rmSync(base, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(130));
const well = options["self-check"] ? await selfCheck() : await compare(pool);
process.exit(well ? 0 : 1);
