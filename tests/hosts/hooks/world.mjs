/** What the drills of real hosts share: a home directory with a workflow, processes with a time limit, what was measured. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The time for one run of a host. */
const TIME_LIMIT_MS = 120_000;

const WORKFLOW = `
name: Bugfix
commandName: bugfix
initialMessage: "Fix this: {description}"
phases:
  - { id: analyze, name: Analyze, emoji: A, instructions: Find the cause., tools: read-only }
  - { id: fix, name: Fix, emoji: F, instructions: Repair it., gate: [{ run: [test, -f, fixed.txt] }] }
  - { id: review, name: Review, emoji: R, instructions: Review it., gate: [{ file: fixed.txt }], approve: { ask: Is it good? } }
`;

/** Runs a program to its end. @param {string} program @param {string[]} args @param {object} options */
export const run = (program, args, options) =>
  new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (data) => (stdout += data));
    child.stderr.on('data', (data) => (stderr += data));
    const timer = setTimeout(() => child.kill('SIGKILL'), TIME_LIMIT_MS);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code, stdout, stderr });
    });
  });

/** Asserts that a text matches; shows its end only. @param {string | undefined} text @param {RegExp} pattern */
export const includes = (text, pattern) =>
  assert.ok(pattern.test(text ?? ''), `${pattern} does not match …${text?.slice(-1500)}`);

/** A directory for the homes of a host. Codex refuses those below the directory for temporary files. */
export const createRoot = () => mkdtempSync(join(homedir(), '.workflow-sidecar-hosts-'));

/** A home directory with a workflow, and a project. @param {string} root @param {string} name */
export function createHome(root, name) {
  const home = join(root, name);
  const project = join(home, 'project');
  mkdirSync(join(home, '.pi/agent/workflows/bugfix'), { recursive: true });
  mkdirSync(project);
  writeFileSync(join(project, 'README.md'), '# demo\n');
  writeFileSync(join(home, '.pi/agent/workflows/bugfix/workflow.yaml'), WORKFLOW);
  return {
    home,
    project,
    env: { PATH: process.env.PATH, HOME: home },
    /** Adds a workflow. @param {string} name @param {string} text */
    workflow(name, text) {
      mkdirSync(join(home, '.pi/agent/workflows', name));
      writeFileSync(join(home, '.pi/agent/workflows', name, 'workflow.yaml'), text);
    },
  };
}

/** What was measured, of each host in each version. */
const TABLE = new URL('../../../docs/hosts.json', import.meta.url);

/** What a host can enforce, in the order of the table. */
const CAPABILITIES = [
  'start and context',
  'blocked tool',
  'blocked shell write',
  'gate',
  'approval by prompt',
  'approval in the host',
  'rejection with comment',
  'outcome',
  'budget',
  'bounded reminder',
  'question pauses',
  'resume',
  'compaction',
  'sub-agent',
  'nested agent',
  'results replaced',
  'missing program',
  'killed program',
  'hung program',
  'garbage program',
  'uninstall byte for byte',
];
/** From best to worst. */
const VALUES = ['enforced', 'partly', 'no'];

/** What the scenario that is played proves, and what it saw. @type {Map<string, { value: string, notes: string[] }>} */
let findings = new Map();

/** Says in a scenario what holds in this host if the scenario passes. @param {string[]} capabilities */
export const proves = (...capabilities) => capabilities.forEach((capability) => saw(capability, 'enforced'));

/** Says what a scenario saw of a capability; the worst counts. @param {string} capability @param {string} value @param {string} [note] */
export function saw(capability, value, note) {
  assert.ok(CAPABILITIES.includes(capability) && VALUES.includes(value), `${capability}: ${value}`);
  assert.ok(note || value === 'enforced', `${capability}: ${value} needs a note`);
  merge(findings, capability, { value, notes: note ? [note] : [] });
}

function merge(all, capability, { value, notes }) {
  const before = all.get(capability) ?? { value: 'enforced', notes: [] };
  const worst = VALUES[Math.max(VALUES.indexOf(before.value), VALUES.indexOf(value))];
  all.set(capability, { value: worst, notes: [...new Set([...before.notes, ...notes])] });
}

/**
 * Compares what was measured of a host with the table, or writes it there, with `scripts/hosts --write`.
 *
 * @param {string} host @param {string} version @param {typeof findings} measured
 */
function record(host, version, measured) {
  const capabilities = CAPABILITIES.map((name) => {
    const { value, notes } = measured.get(name) ?? { value: 'not run', notes: [] };
    return { name, value, ...(notes.length > 0 ? { note: notes.join(' ') } : {}) };
  });
  const table = JSON.parse(readFileSync(TABLE, 'utf8'));
  const isRow = (row) => row.host === host && row.version === version;
  if (!process.env.WORKFLOW_SIDECAR_HOSTS_WRITE) {
    const before = table.find(isRow)?.capabilities ?? [];
    const differs = capabilities.filter((now, index) => JSON.stringify(now) !== JSON.stringify(before[index]));
    for (const now of differs) {
      process.exitCode = 1;
      console.log(`fail  docs/hosts.json has something else than ${JSON.stringify(now)} (scripts/hosts --write)`);
    }
    return;
  }
  const row = { host, version, date: new Date().toISOString().slice(0, 10), capabilities };
  const rows = table.filter((row) => !isRow(row));
  const key = (row) => row.host + row.version.replace(/\d+/g, (digits) => digits.padStart(6, '0'));
  const sorted = [...rows, row].sort((one, other) => (key(one) < key(other) ? -1 : 1));
  writeFileSync(TABLE, `${JSON.stringify(sorted, null, 2)}\n`);
}

/**
 * Plays scenarios, reports on each, and compares what they prove of the host with the table, if all were played.
 *
 * @param {Record<string, () => Promise<void>>} scenarios @param {string} root
 * @param {{ host: string, program: string, only?: string[] }} measured
 */
export async function play(scenarios, root, { host, program, only = [] }) {
  const chosen = Object.entries(scenarios).filter(([name]) => only.length === 0 || only.some((word) => name.includes(word)));
  const all = new Map();
  try {
    const { stdout } = await run(program, ['--version'], { env: { PATH: process.env.PATH, HOME: root } });
    const version = /\d+\.\d+\.\d+/.exec(stdout)?.[0];
    assert.ok(version, `no version: ${stdout}`);
    for (const [name, scenario] of chosen) {
      const began = Date.now();
      findings = new Map();
      try {
        await scenario();
        console.log(`ok    ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
      } catch (error) {
        process.exitCode = 1;
        console.log(`fail  ${name}\n${error.stack}`);
        for (const capability of findings.keys()) saw(capability, 'no', `The test "${name}" failed.`);
      }
      for (const [capability, found] of findings) merge(all, capability, found);
    }
    if (only.length === 0) record(host, version, all);
  } finally {
    // A program that is ending may still write.
    rmSync(root, { recursive: true, force: true, maxRetries: 10 });
  }
}
