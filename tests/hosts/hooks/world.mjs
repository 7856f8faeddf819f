/** What the drills of real hosts share: a home directory with a workflow, processes with a time limit, a report. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
  return { home, project, env: { PATH: process.env.PATH, HOME: home } };
}

/** Plays scenarios and reports on each. @param {Record<string, () => Promise<void>>} scenarios @param {string} root */
export async function play(scenarios, root) {
  try {
    for (const [name, scenario] of Object.entries(scenarios)) {
      const began = Date.now();
      try {
        await scenario();
        console.log(`ok    ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
      } catch (error) {
        process.exitCode = 1;
        console.log(`fail  ${name}\n${error.stack}`);
      }
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
