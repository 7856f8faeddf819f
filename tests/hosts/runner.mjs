/**
 * The command line of tests/hosts/run: plays scenarios on the hosts and prints the result of each.
 *
 * Our extension is also compared with the npm package, whose recordings are cached until a scenario or the harness
 * changes.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { asText as differenceText, differences, explain } from './differences.mjs';
import { host as hostOf, referencePackage, versions } from './hosts.mjs';
import { everywhere, intended } from './intended.mjs';
import { asText as recordingText } from './recording.mjs';
import { extensionAt, playScenario } from './scenario.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const kept = join(here, '.recordings');

/** The number of scenarios at a time: a scenario mostly waits for countdowns and processes. */
const JOBS = availableParallelism() + 1;

const HELP = `Usage: tests/hosts/run [options]

Drives the real pi through scripted scenarios. Without --extension, scenarios use the npm package.

  --host VERSION      ${versions.join(', ')} or all (default)
  --extension PATH    a directory whose package.json has pi.extensions; compared with the npm package
  --sidecar PATH      the binary that the extension spawns (WORKFLOW_SIDECAR_BINARY)
  --scenario NAME     only scenarios whose name contains NAME; may be repeated
  --jobs N            scenarios at a time (${JOBS})
  --record            record the package again even if its recording is up to date
  --show              print every recording
  --list              list the scenarios

The recordings of the last run are in tests/hosts/.recordings.`;

/** @typedef {import('./scenario.mjs').Scenario} Scenario */
/** @typedef {import('./scenario.mjs').Extension} Extension */
/** @typedef {{host: import('./hosts.mjs').Host, name: string, scenario: Scenario}} Job */

const { values: options } = parseArgs({
  options: {
    host: { type: 'string', default: 'all' },
    extension: { type: 'string', default: referencePackage },
    sidecar: { type: 'string' },
    scenario: { type: 'string', multiple: true, default: [] },
    jobs: { type: 'string', default: String(JOBS) },
    record: { type: 'boolean', default: false },
    show: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

/** Runs the command line and returns the exit code. */
export async function main() {
  if (options.help) {
    console.log(HELP);
    return 0;
  }
  const scenarios = await load(options.scenario);
  if (options.list) {
    for (const [name, { about }] of scenarios) console.log(`${name.padEnd(28)} ${about}`);
    return 0;
  }
  const extension = extensionAt(options.extension, options.sidecar && resolve(options.sidecar));
  const hosts = (options.host === 'all' ? versions : [options.host]).map((version) => hostOf(/** @type {any} */ (version)));
  const jobs = hosts.flatMap((host) =>
    scenarios.filter(([, scenario]) => plays(scenario, extension)).map(([name, scenario]) => ({ host, name, scenario })),
  );
  if (jobs.length === 0) {
    console.error('no scenario has that name');
    return 2;
  }
  const began = Date.now();
  const failed = await inTurn(jobs, (job) => report(job, extension));
  console.log(`${jobs.length - failed} of ${jobs.length} passed, ${seconds(began)}`);
  return failed === 0 ? 0 : 1;
}

/** Returns true if the scenario applies to the extension. @param {Scenario} scenario @param {Extension} extension */
const plays = ({ ours, needsBinary }, { reference: isReference, sidecar }) => !(ours && isReference) && !(needsBinary && !sidecar);

/** @param {string[]} parts @returns {Promise<[string, Scenario][]>} */
async function load(parts) {
  const names = readdirSync(join(here, 'scenarios')).map((file) => file.replace(/\.mjs$/, '')).sort();
  const wanted = names.filter((name) => parts.length === 0 || parts.some((part) => name.includes(part)));
  return Promise.all(wanted.map(async (name) => [name, (await import(`./scenarios/${name}.mjs`)).default]));
}

/**
 * Runs all jobs, several at once, and counts the failures.
 *
 * @param {Job[]} jobs
 * @param {(job: Job) => Promise<boolean>} work
 */
async function inTurn(jobs, work) {
  const jobsAtOnce = Math.max(1, Number(options.jobs) || JOBS);
  const queue = [...jobs];
  let failed = 0;
  const worker = async () => {
    for (let job = queue.shift(); job; job = queue.shift()) {
      if (!(await work(job))) failed += 1;
    }
  };
  await Promise.all(Array.from({ length: jobsAtOnce }, worker));
  return failed;
}

/** @param {Job} job @param {Extension} extension @returns {Promise<boolean>} */
async function report(job, extension) {
  const began = Date.now();
  /** @type {string[]} */
  let complaints;
  try {
    complaints = await judge(job, extension);
  } catch (error) {
    complaints = [error instanceof Error ? (error.stack ?? error.message) : String(error)];
  }
  console.log(`${complaints.length === 0 ? 'ok  ' : 'FAIL'} ${job.host.version.padEnd(6)} ${job.name} (${seconds(began)})`);
  for (const complaint of complaints) console.log(complaint.replace(/^/gm, '     '));
  return complaints.length === 0;
}

/** Plays one scenario and returns its failures. @param {Job} job @param {Extension} extension @returns {Promise<string[]>} */
async function judge(job, extension) {
  const { host, name, scenario } = job;
  const seen = await playScenario(name, scenario, host, extension);
  keep(job, extension, seen.recording);
  if (options.show) console.log(recordingText(seen.recording));

  const complaints = seen.outsideRequests.map((address) => `tried to reach ${address}`);
  try {
    scenario.expect?.(seen);
  } catch (error) {
    complaints.push(error instanceof Error ? error.message : String(error));
    if (seen.stderr) complaints.push(`stderr ends in:\n${seen.stderr.slice(-1_000)}`);
  }
  if (extension.reference || scenario.ours) return complaints;

  const here = (/** @type {string[]} */ ids) => ids.map((id) => id.split('@')).filter(([, only]) => only === undefined || only === host.version).map(([id]) => id);
  const [rest] = here(scenario.divergence ? [scenario.divergence] : []);
  const found = differences((await reference(job)).blocks, seen.recording.blocks);
  const { differences: explained, unmatched } = explain(found, here([...everywhere, ...(scenario.differences ?? [])]), intended, rest);
  complaints.push(...explained.filter(({ id }) => id === undefined).map(differenceText));
  complaints.push(...unmatched.filter((id) => !here(everywhere).includes(id)).map((id) => `${id} should differ and does not: ${intended[id].says}`));
  return complaints;
}

/** Returns the package's recording: the cached one, if it is up to date. @param {Job} job @returns {Promise<import('./recording.mjs').Recording>} */
async function reference(job) {
  const package_ = extensionAt(referencePackage);
  if (!options.record) {
    try {
      const { digest, recording } = JSON.parse(readFileSync(keptFile(job, package_, 'json'), 'utf8'));
      if (digest === digestOf(job.name)) return recording;
    } catch {
      // not cached
    }
  }
  const { recording } = await playScenario(job.name, job.scenario, job.host, package_);
  keep(job, package_, recording);
  return recording;
}

/** @param {Job} job @param {Extension} extension @param {import('./recording.mjs').Recording} recording */
function keep(job, extension, recording) {
  const file = keptFile(job, extension, 'json');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ digest: digestOf(job.name), recording }));
  writeFileSync(keptFile(job, extension, 'txt'), `${recordingText(recording)}\n`);
}

/** @param {Job} job @param {Extension} extension @param {string} suffix */
const keptFile = ({ host, name }, { reference: isReference }, suffix) =>
  join(kept, host.version, isReference ? 'package' : 'extension', `${name}.${suffix}`);

/** Computes the digest of everything that a recording of the package depends on. @param {string} name */
function digestOf(name) {
  const parts = ['definitions', 'model', 'pi', 'recording', 'sandbox', 'scenario', `scenarios/${name}`].map((part) => `${part}.mjs`);
  const locks = ['package', 'pi-0.74.2', 'pi-1.5.2'].map((directory) => `${directory}/package-lock.json`);
  const digest = createHash('sha256');
  for (const file of [...parts, 'probe.js', ...locks]) digest.update(readFileSync(join(here, file)));
  return digest.digest('hex');
}

/** @param {number} began */
const seconds = (began) => `${((Date.now() - began) / 1000).toFixed(1)} s`;
