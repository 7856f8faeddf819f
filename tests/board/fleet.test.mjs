/** A run of the real pi in a store on PostgreSQL: an approver answers, trusts and orders in a browser, and the login of an agent cannot. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { phase, settings, workflow } from '../hosts/definitions.mjs';
import { call, ScriptedModel, say } from '../hosts/model.mjs';
import { host } from '../hosts/hosts.mjs';
import { Pi } from '../hosts/pi.mjs';
import { commandLine, createSandbox } from '../hosts/sandbox.mjs';
import { Tab, chromium, launch, startBoard } from './board.mjs';
import { postgres, startPostgres } from './postgres.mjs';

const { WORKFLOW_SIDECAR_BINARY: binary = '' } = process.env;
const extension = new URL('../../protocol/typescript', import.meta.url).pathname;
const missing = [chromium ? '' : 'Chromium', postgres ? '' : 'PostgreSQL'].filter(Boolean).join(' and ');

const plan = workflow('Plan', [
  phase('Draft', '📝', { approve: { ask: 'Plan OK?', choices: ['approve', 'revise'] } }),
  phase('Build', '🔨', { gate: [{ run: ['false'] }] }),
  phase('Ship', '🚢'),
], { continue: { max: 0 } });

test('an approver answers and orders in a browser', { skip: missing !== '' && `there is no ${missing}` }, async (t) => {
  const server = startPostgres(binary);
  const model = new ScriptedModel([]);
  const sandbox = createSandbox({ agent: settings({ store: server.url('agent') }), project: { '.pi': { workflows: { plan } } } }, await model.listen());
  const approver = join(sandbox.root, 'approver');
  mkdirSync(approver);
  for (const [name, text] of Object.entries(settings({ store: server.url('approver') }))) writeFileSync(join(approver, name), text);
  const signedOn = ['--host', 'board.example.org', '--trust-header', 'X-Forwarded-User'];
  const boards = await Promise.all([approver, sandbox.agent].map((agent) => startBoard(binary, { PATH: process.env.PATH, HOME: sandbox.home }, [...signedOn, '--agent-dir', agent])));
  const browser = await launch();
  const pi = new Pi({
    host: host('1.5.2'),
    args: [...commandLine(sandbox), '--extension', extension, '--mode', 'rpc'],
    env: { ...sandbox.env, WORKFLOW_SIDECAR_BINARY: binary },
    cwd: sandbox.cwd,
    readsCommands: true,
  });
  t.after(async () => {
    await pi.close();
    await browser.close();
    await Promise.all(boards.map((board) => board.stop()));
    model.close();
    server.stop();
  });
  const [tab, ofAgent] = await Promise.all(boards.map(({ origin }) => Tab.open(browser, origin)));
  const stranger = await Tab.open(browser, tab.origin);
  assert.equal((await stranger.go('/'))?.status(), 401, 'nobody has signed on');
  for (const { page } of [tab, ofAgent]) await page.setExtraHTTPHeaders({ 'x-forwarded-user': 'ada' });

  const next = call('workflow_step', { action: 'next' });
  model.play([next, say('I wait.'), next, say('I build.'), say('I ship.')]);
  pi.answer(null);
  await tab.go('/');
  await pi.prompt('/workflow plan the sum');
  await tab.until(/plan the sum.*approval/);
  await pi.settled();

  const link = await tab.page.$eval('th a', (found) => found.href);
  const run = new URL(link).searchParams.get('run');
  await ofAgent.go(`/?run=${run}`);
  await ofAgent.until(/waiting for your approval/);
  assert.doesNotMatch(await ofAgent.text(), /Pause, resume or skip/);
  await ofAgent.go(`/a?run=${run}`);
  await ofAgent.until(/Plan OK\?.*may not answer/);
  assert.equal(await ofAgent.page.$('form.answer'), null);
  assert.equal((await ofAgent.go(`/order?run=${run}`))?.status(), 403);

  await tab.go(`/a?run=${run}`);
  assert.equal(await tab.page.$('#code'), null, 'the login proves who answers');
  await tab.page.click('input[value=approve]');
  await tab.follow('form.answer button');
  await tab.until(/Answered/);
  await tab.follow('.links a');
  await tab.until(/workflow-approve.*Build.*answered by ada/);
  await tab.go(`/?run=${run}`);
  await tab.until(/waits for your trust/);
  assert.equal((await ofAgent.go('/trust'))?.status(), 403);
  await tab.follow('a[href="/trust"]');
  await tab.until(/Trust in commands.*false/s);
  await tab.everySize('trust');
  await tab.follow('button[value=trust]');
  await tab.until(/are trusted as they are/);
  await tab.go('/trust');
  await tab.until(/No project waits/);
  const order = async (/** @type {string} */ command) => {
    await tab.go(`/?run=${run}`);
    await tab.until(/Pause, resume or skip/);
    await tab.go(`/order?run=${run}`);
    await tab.page.click(`input[value=workflow-${command}]`);
    if (command === 'skip') await tab.everySize('order');
    await tab.follow('form.answer button');
    await tab.until(/Ordered/);
    await tab.go(`/?run=${run}`);
  };
  await order('pause');
  await tab.until(/paused by you/);
  await order('skip');
  await tab.until(/ada: \/workflow-skip.*Ship.*passed over/s);
  await order('skip');
  await tab.until(/complete/i);
  for (const { wrongs } of [tab, ofAgent, stranger]) assert.deepEqual(wrongs, []);
});
