/** Texts of workflows, tasks, tools and files that want to be more than text, on each page of the board and in pages of `show`. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';

import { phase, workflow } from '../hosts/definitions.mjs';
import { Tab, chromium, launch, startBoard } from './board.mjs';

const { WORKFLOW_SIDECAR_BINARY: binary = '' } = process.env;

/** Each would run or load something if it were not shown as text. */
const INJECTIONS = [
  '<script>window.pwned = 1</script>',
  '<img src=x onerror="window.pwned = 1">',
  '<svg onload="window.pwned = 1"><style>@import "http://198.51.100.7/x.css"</style></svg>',
  '"><iframe src="javascript:parent.pwned = 1"></iframe>',
  "' onfocus='window.pwned = 1' autofocus='",
  '</style></title></textarea></pre><script>window.pwned = 1</script>',
  '<a href="javascript:window.pwned = 1" id="part">click</a>',
  '<form action="http://198.51.100.7/"><button>Send</button></form><base href="http://198.51.100.7/">',
  '<meta http-equiv="refresh" content="0;url=http://198.51.100.7/"><link rel="stylesheet" href="http://198.51.100.7/x.css">',
  '{{ 7 * 7 }} ${7 * 7} {% include "x" %} \u202e\u2066 ]]> --> &lt;script&gt;',
  'event: page\ndata: <img src=x onerror="window.pwned = 1">\n\n',
];
const all = INJECTIONS.join(' ');

function createWorld() {
  const root = mkdtempSync(join(tmpdir(), 'board-hostile-'));
  const project = join(root, 'project <b onclick=x>');
  const agent = join(root, '.pi/agent');
  mkdirSync(join(project, '.pi/workflows'), { recursive: true });
  mkdirSync(join(agent, 'workflows/hostile'), { recursive: true });
  writeFileSync(join(project, 'plan.md'), `${all}\n`);
  const hostile = workflow(
    INJECTIONS[0],
    [
      phase(INJECTIONS[1], '🐞', {
        id: 'first',
        tools: { blacklist: ['write', 'edit'] },
        approve: { ask: all.replaceAll('{', '('), choices: [INJECTIONS[3], 'no'], show: 'plan.md', comment: true },
      }),
      phase(INJECTIONS[4], '🔎', { id: 'second', gate: [{ run: ['printf', '%s', all.replaceAll('{', '(')] }] }),
    ],
    { commandName: 'hostile' },
  );
  for (const [name, text] of Object.entries(hostile)) writeFileSync(join(agent, 'workflows/hostile', name), String(text));
  const env = { PATH: process.env.PATH, HOME: root };
  return { root, project, env };
}

/** A host of `serve` whose run waits for an approval. */
async function waitInServe({ project, env }) {
  const child = spawn(binary, ['serve'], { cwd: project, env, stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let id = 0;
  const call = async (method, params) => {
    id += 1;
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    for (;;) {
      const { value } = await lines.next();
      const message = JSON.parse(value);
      if (message.id === id && !message.method) return message.result ?? assert.fail(value);
    }
  };
  const host = { name: `pi${INJECTIONS[1]}`, version: '1' };
  await call('initialize', { protocolVersion: 1, host, cwd: project, capabilities: { dialogs: false } });
  await call('hook/session_start', { context: { branch: [] } });
  await call('command/run', { name: 'workflow', arguments: `hostile ${all}` });
  await call('tool/execute', { name: 'workflow_step', toolCallId: 't1', arguments: { action: 'next' } });
  return child;
}

/** A session of Claude Code, whose run has denials, a comment and a skipped phase. */
function runInHooks({ project, env }) {
  const send = (event) => {
    const input = JSON.stringify({ session_id: 's1', cwd: project, ...event });
    const ran = spawnSync(binary, ['hook', 'claude'], { cwd: project, env, input, encoding: 'utf8' });
    assert.ok([0, 2].includes(ran.status ?? -1), ran.stderr);
  };
  const prompt = (text) => send({ hook_event_name: 'UserPromptSubmit', prompt: text });
  send({ hook_event_name: 'SessionStart', source: 'startup' });
  prompt(`workflow hostile ${all}`);
  send({ hook_event_name: 'PreToolUse', tool_name: 'Write', tool_use_id: 'w1', tool_input: { file_path: `${INJECTIONS[1]}.txt`, content: all } });
  prompt(`workflow skip ${all}`);
}

test('hostile texts stay texts on every page', { skip: !chromium && 'there is no Chromium' }, async (t) => {
  const world = createWorld();
  const server = await waitInServe(world);
  runInHooks(world);
  const board = await startBoard(binary, world.env);
  const browser = await launch();
  t.after(async () => {
    server.kill();
    await browser.close();
    await board.stop();
    rmSync(world.root, { recursive: true, force: true, maxRetries: 10 });
  });
  const listed = spawnSync(binary, ['runs', '--format', 'json'], { cwd: world.project, env: world.env, encoding: 'utf8' });
  /** @type {{taskId: string}[]} */
  const runs = JSON.parse(listed.stdout);
  assert.equal(runs.length, 2, listed.stdout);
  const tab = await Tab.open(browser, board.origin);
  await tab.look(360, 'light');
  await tab.go(board.address);
  const paths = ['/', '/figures', `/?q=${encodeURIComponent(all)}`, `/?host=${encodeURIComponent(INJECTIONS[1])}`, `/?run=${encodeURIComponent(INJECTIONS[0])}`, `/a?code=${encodeURIComponent(INJECTIONS[0])}`];
  for (const { taskId } of runs) paths.push(`/?run=${taskId}`, `/a?run=${taskId}`);
  const seen = [];
  for (const path of paths) {
    await tab.go(path);
    await new Promise((resolve) => setTimeout(resolve, 400)); // for the live part
    seen.push(await tab.text());
    assert.equal(await tab.page.evaluate(() => /** @type {any} */ (window).pwned), undefined, path);
    assert.deepEqual(await tab.problems(), [], path);
  }
  assert.deepEqual(tab.wrongs, []);
  for (const injection of INJECTIONS.slice(0, 2)) assert.ok(seen.some((text) => text.includes(injection)), `${injection} is shown`);

  const show = await Tab.open(browser, 'file://');
  await show.page.setOfflineMode(true);
  await show.look(360, 'dark');
  for (const { taskId } of runs) {
    const made = spawnSync(binary, ['show', taskId, '--format', 'html'], { cwd: world.project, env: world.env, encoding: 'utf8' });
    if (made.status !== 0) continue;
    const file = join(world.root, `${taskId}.html`);
    writeFileSync(file, made.stdout);
    await show.go(`file://${file}`);
    assert.equal(await show.page.evaluate(() => /** @type {any} */ (window).pwned), undefined);
    assert.deepEqual(await show.problems(), []);
  }
  assert.deepEqual(show.wrongs, []);
});
