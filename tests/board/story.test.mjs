/** Runs of the real pi and the real Codex in one store: they appear on the board, wait, are answered there, go on and end. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { phase, settings, workflow } from '../hosts/definitions.mjs';
import { call as piCall, ScriptedModel, say as piSay } from '../hosts/model.mjs';
import { host } from '../hosts/hosts.mjs';
import { call, say, startModel } from '../hosts/hooks/responses.mjs';
import { createRoot, run } from '../hosts/hooks/world.mjs';
import { Pi, sleep } from '../hosts/pi.mjs';
import { commandLine, createSandbox } from '../hosts/sandbox.mjs';
import { Tab, chromium, launch, startBoard } from './board.mjs';

const { WORKFLOW_SIDECAR_BINARY: binary = '', CODEX: codex = '' } = process.env;
const extension = new URL('../../protocol/typescript', import.meta.url).pathname;
const SHAPE = /[A-Z0-9]{4}-[A-Z0-9]{4}-[A-Z0-9]{4}/g;

const workflows = {
  plan: workflow('Plan', [
    phase('Draft', '📝', { approve: { ask: 'Plan OK?', choices: ['approve', 'revise'], show: 'plan.md', comment: true } }),
    phase('Build', '🔨'),
  ]),
  bugfix: workflow('Bugfix', [
    phase('Fix', '🐞', { gate: [{ run: ['test', '-f', 'fixed.txt'] }] }),
    phase('Review', '🔎', { approve: { ask: 'Is it good?' } }),
  ]),
};

/** A home directory in which pi and Codex have their default places, so that they share a store. */
function createHome(modelUrl) {
  // Codex refuses a home below the directory for temporary files.
  process.env.TMPDIR = createRoot();
  const agent = settings({ notify: ['sh', '-c', 'cat >> "$HOME/notices"'] });
  const project = { 'plan.md': 'Add the numbers.\n' };
  const sandbox = createSandbox({ workflows, agent, project }, modelUrl);
  const { home, root } = sandbox;
  mkdirSync(join(home, '.pi'));
  symlinkSync(sandbox.agent, join(home, '.pi/agent'));
  delete sandbox.env.PI_CODING_AGENT_DIR;
  return { ...sandbox, clear: () => rmSync(join(root, '..'), { recursive: true, force: true, maxRetries: 10 }) };
}

/** The codes that the user's notifier was told, oldest first. */
async function codes(home, count) {
  for (const end = Date.now() + 10_000; Date.now() < end; await sleep(50)) {
    try {
      const found = readFileSync(join(home, 'notices'), 'utf8').match(SHAPE) ?? [];
      if (found.length >= count) return found;
    } catch {
      // nothing was told yet
    }
  }
  throw new Error(`the notifier was not told ${count} codes`);
}

/** Codex with our hooks, in a project of its own. */
async function createCodex(home, model) {
  const project = join(home, 'export');
  const env = { PATH: process.env.PATH, HOME: home, CODEX_HOME: join(home, '.codex') };
  mkdirSync(project);
  mkdirSync(env.CODEX_HOME);
  const config = { model: 'gpt-5.5', model_provider: 'scripted', approval_policy: 'never', sandbox_mode: 'danger-full-access' };
  const provider = { name: 'scripted', base_url: model.url, wire_api: 'responses' };
  const lines = (table) => Object.entries(table).map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`).join('');
  writeFileSync(join(env.CODEX_HOME, 'config.toml'), `${lines(config)}[model_providers.scripted]\n${lines(provider)}`);
  const installed = await run(binary, ['install', 'codex'], { cwd: project, env });
  assert.equal(installed.code, 0, installed.stderr);
  const options = ['--json', '--skip-git-repo-check', '--dangerously-bypass-hook-trust'];
  let session;
  return async (text, replies) => {
    model.play(replies);
    const ran = await run(codex, session ? ['exec', 'resume', ...options, session, text] : ['exec', ...options, text], { cwd: project, env });
    session ??= /"thread_id":"([^"]+)/.exec(ran.stdout)?.[1];
  };
}

/** Types a code and a choice, and sends them. */
async function answer({ page, ...tab }, choice, code) {
  await page.click(`input[name=choice][value=${choice}]`);
  if (code) {
    await page.$eval('#code', (input) => (input.value = ''));
    await page.type('#code', code);
  }
  await Promise.all([page.waitForNavigation(), page.click('form.answer button')]);
}

test('runs of pi and Codex are seen, answered and ended on the board', { skip: !chromium && 'there is no Chromium' }, async (t) => {
  const piModel = new ScriptedModel([]);
  const codexModel = await startModel();
  const home = createHome(await piModel.listen());
  const boardEnv = { PATH: process.env.PATH, HOME: home.home };
  const board = await startBoard(binary, boardEnv);
  const browser = await launch();
  const pi = new Pi({
    host: host('1.5.2'),
    args: [...commandLine(home), '--extension', extension, '--mode', 'rpc'],
    env: { ...home.env, WORKFLOW_SIDECAR_BINARY: binary },
    cwd: home.cwd,
    readsCommands: true,
  });
  t.after(async () => {
    await pi.close();
    await browser.close();
    await board.stop();
    piModel.close();
    await codexModel.stop();
    home.clear();
  });
  const tab = await Tab.open(browser, board.origin);

  const refused = await Tab.open(browser, board.origin);
  assert.equal((await refused.go('/'))?.status(), 401, 'a browser that was not let in sees nothing');
  await tab.go(board.address);
  await tab.until(/Nothing waits|No run waits|There are no others here/);
  const stranger = await browser.createBrowserContext();
  const second = new Tab(await stranger.newPage(), board.origin);
  assert.equal((await second.go(board.address))?.status(), 401, 'the address counts once');

  const next = piCall('workflow_step', { action: 'next' });
  piModel.play([next, piSay('I wait.'), next, piSay('Done.')]);
  pi.answer(null);
  await pi.prompt('/workflow plan the sum');
  await tab.until(/plan the sum.*approval/);
  const [code] = await codes(home.home, 1);
  await pi.settled();

  const step = call('workflow_step', { action: 'next' }, 'mcp__workflow');
  const shell = (cmd) => call('exec_command', { cmd });
  const prompt = codex && (await createCodex(home.home, codexModel));
  if (prompt) {
    await prompt('workflow bugfix the export is empty', [step, shell('touch fixed.txt'), step, step, say('I wait.')]);
    await tab.until(/bugfix the export is empty.*approval/);
  } else t.diagnostic('skipped: Codex on the board (scripts/hosts codex installs it)');

  await tab.everySize('runs');
  await tab.follow('a[aria-label*=plan]');
  await tab.until(/Add the numbers\..*Plan OK\?/);
  await tab.everySize('question');
  for (const wrong of ['2222-2222-2222', '3333-3333-3333', 'x', "' OR 1=1 --"]) {
    await answer(tab, 'approve', wrong);
    await tab.until(/nothing was answered/);
  }
  await tab.page.type('#comment', 'Mind the zero.');
  await answer(tab, 'approve', code);
  await tab.until(/Answered/);
  await tab.follow('.links a');
  await tab.until(/complete/i);
  const shown = await tab.text();
  assert.match(shown, /Mind the zero\./);
  assert.match(shown, /Build/);
  await tab.everySize('run');
  await pi.settled();

  if (prompt) {
    const [, second] = await codes(home.home, 2);
    const other = await startBoard(binary, boardEnv);
    const guessing = new Tab(await (await browser.createBrowserContext()).newPage(), other.origin);
    const statuses = [];
    for (const guess of ['2222-2222-2222', '3333-3333-3333', '4444-4444-4444', '5555-5555-5555', code, second]) {
      statuses.push((await guessing.go(`/a?code=${guess}`))?.status());
    }
    assert.equal(statuses.pop(), 429, 'the right code after five wrong ones');
    assert.ok(statuses.every((status) => [403, 404, 409].includes(status ?? 0)), `${statuses}`);
    await other.stop();

    const phone = new Tab(await stranger.newPage(), board.origin);
    await phone.look(360, 'dark');
    await phone.go(`/a?code=${second}`);
    await phone.until(/Is it good\?/);
    assert.deepEqual(await phone.problems(), []);
    await answer(phone, 'approve');
    await phone.until(/Answered/);
    await prompt('go on', [step, say('Done.')]);
    await tab.go('/');
    await tab.until(/bugfix.*complete/);
    assert.deepEqual(phone.wrongs, []);
  }
  await tab.go('/figures');
  await tab.until(/plan.*Time in phases/);
  await tab.everySize('figures');
  assert.deepEqual(tab.wrongs, []);
});
