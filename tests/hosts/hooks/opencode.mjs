/**
 * The real opencode, driven against a scripted model on loopback.
 *
 * Usage: opencode.mjs OPENCODE SIDECAR [SCENARIO…]
 *
 * Most scenarios are sessions of one `opencode serve`, which is what its terminal interface talks to as well.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ScriptedModel, call, fail, pause, say } from '../model.mjs';
import { FLOW, OPEN, TIGHT } from './shared.mjs';
import { createHome, createRoot, includes, play, proves, run, saw } from './world.mjs';

const [opencode, sidecar, ...only] = process.argv.slice(2);
if (!opencode || !sidecar) {
  console.error('Usage: opencode.mjs OPENCODE SIDECAR [SCENARIO…]');
  process.exit(2);
}

/** The time for one step of a scenario. */
const STEP_MS = 90_000;
/** Longer than the countdown before a reminder. */
const BEYOND_COUNTDOWN_MS = 5_000;

const root = createRoot();
const { home, project, env: bare, workflow } = createHome(root, 'home');
const env = {
  ...bare,
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
};
// A copy, so that a scenario can take it away.
const binary = join(home, 'workflow-sidecar');
copyFileSync(sidecar, binary);

const model = new ScriptedModel([]);
const provider = {
  npm: '@ai-sdk/openai-compatible',
  name: 'Scripted',
  options: { baseURL: `${await model.listen()}/v1`, apiKey: 'none' },
  models: { scripted: { name: 'Scripted', tool_call: true, limit: { context: 100_000, output: 4_000 } } },
};
const config = join(home, '.config/opencode/opencode.json');
mkdirSync(join(home, '.config/opencode'), { recursive: true });
// opencode adds the schema where it is missing.
const $schema = 'https://opencode.ai/config.json';
writeFileSync(config, JSON.stringify({ $schema, model: 'fake/scripted', small_model: 'fake/scripted', autoupdate: false, share: 'disabled', provider: { fake: provider } }));
const before = readFileSync(config, 'utf8');
const CAREFUL = `
name: Careful
commandName: careful
initialMessage: "Do this: {description}"
phases: [{ id: work, name: Work, emoji: W, instructions: Work with care., tools: { rules: [{ ask: write }] } }]
`;
workflow('careful', CAREFUL);
workflow('flow', FLOW);
workflow('open', OPEN);
workflow('tight', TIGHT);
const installed = await run(binary, ['install', 'opencode'], { cwd: project, env });
assert.equal(installed.code, 0, installed.stderr);

const file = (path) => join(project, path);
const step = (action) => call('workflow_step', { action });
const write = (path) => call('write', { filePath: file(path), content: 'hello\n' });
const shell = (command) => call('bash', { command, description: 'x' });
const START = 'workflow bugfix the export is empty';

/** Waits until something is so. */
async function until(what, isSo) {
  for (const deadline = Date.now() + STEP_MS; !(await isSo()); await sleep(50)) {
    assert.ok(Date.now() < deadline, `${what}\n${server.log.slice(-1500)}\n${JSON.stringify(model.requests.at(-1)?.messages.slice(-2))}`);
  }
}
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** A running `opencode serve`, with the events that an interface would show. */
async function serve() {
  const child = spawn(opencode, ['serve', '--port', '0', '--hostname', '127.0.0.1'], { cwd: project, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const server = { url: '', log: '', events: [], stop: async () => {} };
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (server.log += data));
  const ended = new Promise((resolve) => child.on('close', resolve));
  for (const deadline = Date.now() + 2 * STEP_MS; server.url === ''; await sleep(50)) {
    if (Date.now() > deadline) child.kill('SIGKILL');
    assert.ok(child.exitCode === null && child.signalCode === null, `opencode serve does not start\n${server.log}`);
    server.url = /listening on (http:\/\/\S+)/.exec(server.log)?.[1] ?? '';
  }
  const stopped = new AbortController();
  server.stop = async () => {
    stopped.abort();
    child.kill('SIGTERM');
    await ended;
  };
  // It may say that it listens before it accepts connections.
  let events;
  for (const deadline = Date.now() + STEP_MS; events === undefined; await sleep(50)) {
    events = await fetch(`${server.url}/event`, { signal: stopped.signal }).catch(async (error) => {
      if (Date.now() < deadline) return undefined;
      await server.stop();
      throw error;
    });
  }
  (async () => {
    let text = '';
    for await (const chunk of events.body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) if (line.startsWith('data:')) server.events.push(JSON.parse(line.slice(5)));
    }
  })().catch(() => {});
  return server;
}

async function post(path, body) {
  const answer = await fetch(`${server.url}${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  const text = await answer.text();
  assert.ok(answer.ok, `${path}: ${answer.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

/** A session of the server. */
async function createSession(id) {
  id ??= (await post('/session', {})).id;
  const parts = (text) => ({ parts: [{ type: 'text', text }] });
  const isIdle = async () => {
    const states = await (await fetch(`${server.url}/session/status`)).json();
    return states[id] === undefined || states[id].type === 'idle';
  };
  return {
    id,
    isIdle,
    /** Sends a prompt and waits for the end of the agent's work. */
    prompt: (text) => post(`/session/${id}/message`, parts(text)),
    /** Sends a prompt. */
    send: (text) => post(`/session/${id}/prompt_async`, parts(text)),
    command: (name, words = '') => post(`/session/${id}/command`, { command: name, arguments: words }),
    abort: () => post(`/session/${id}/abort`, {}),
    summarize: () => post(`/session/${id}/summarize`, { providerID: 'fake', modelID: 'scripted' }),
    entries: () => join(home, '.local/state/workflow-sidecar/opencode', `${id}.jsonl`),
    state: () => entriesOf(id).findLast((entry) => entry.customType === 'workflow:state')?.data,
  };
}

const entriesOf = (id) => {
  const path = join(home, '.local/state/workflow-sidecar/opencode', `${id}.jsonl`);
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n').map((line) => JSON.parse(line)) : [];
};

/** The texts of all toasts so far. */
const toasts = () => server.events.filter(({ type }) => type === 'tui.toast.show').map(({ properties }) => properties.message);
/** The requests of the agent, each as a text. */
const asked = () => model.requests.filter(({ tools }) => tools.length > 0).map(({ messages }) => JSON.stringify(messages));
/** The last message of each of these requests. */
const news = () => model.requests.filter(({ tools }) => tools.length > 0).map(({ messages }) => JSON.stringify(messages.at(-1)));

/** The sidecars that belong to this test. */
const sidecars = () =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith(`${binary}\0serve`);
    } catch {
      return false; // it has ended
    }
  });

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;

const scenarios = {
  async 'a whole workflow, with a reminder and an approval'() {
    proves('start and context', 'blocked tool', 'blocked shell write', 'gate', 'approval by prompt');
    const session = await createSession();
    model.play([
      shell('cat README.md'),
      write('a.txt'),
      shell('echo x > b.txt'),
      say('I stop early.'),
      step('next'),
      write('c.txt'),
      step('next'),
      shell('touch fixed.txt'),
      step('next'),
      step('next'),
      say('Done.'),
    ]);
    await session.prompt(START);
    includes(news()[0], /Fix this: the export is empty/);
    includes(news()[0], /Find the cause\./);
    includes(news()[1], /# demo/);
    includes(news()[2], /blocked/);
    includes(news()[3], /blocked/);
    assert.ok(!existsSync(file('a.txt')) && !existsSync(file('b.txt')), 'nothing was written in Analyze');
    assert.ok(toasts().some((text) => /"write" is blocked by the Analyze phase/.test(text)), 'the person sees why');
    await until('a reminder is sent', () => asked().length >= 5);
    includes(news()[4], /is still in /);
    await until('the question is asked', () => toasts().some((text) => /Is it good\?/.test(text)));
    saw('approval in the host', 'no', 'A toast asks, and a command answers.');
    includes(news()[5], /Analyze → F Fix/);
    assert.ok(existsSync(file('c.txt')), 'Fix may write');
    includes(news()[7], /Gate failed/);
    includes(news()[9], /Fix → R Review/);
    await session.command('workflow-approve', 'approve');
    await until('the run ends', () => session.state()?.active === false);
    await until('the agent ends', session.isIdle);
    const { length } = asked();
    await sleep(BEYOND_COUNTDOWN_MS);
    assert.equal(asked().length, length, 'no reminder after the end');
  },

  async 'start, status, pause and cancel by command'() {
    const session = await createSession();
    model.play([say('I stop.'), say('The status.'), say('Paused.'), say('Cancelled.'), say('beyond')]);
    await session.command('workflow', 'bugfix the export is empty');
    includes(news()[0], /Find the cause\./);
    await session.command('workflow-pause');
    includes(news()[1], /Repeat the answer/);
    await session.command('workflow-status');
    includes(news()[2], /Analyze/);
    await sleep(BEYOND_COUNTDOWN_MS);
    assert.equal(asked().length, 3, 'a paused run sends no reminders');
    await session.prompt('workflow cancel');
    assert.equal(session.state().active, false);
  },

  async 'an ordinary sentence starts nothing'() {
    const session = await createSession();
    model.play([say('Yes.'), write('free.txt'), say('Written.')]);
    await session.prompt('workflow engines are useful');
    assert.doesNotMatch(asked()[0], /Find the cause/);
    await session.prompt('write it');
    assert.ok(existsSync(file('free.txt')), 'without a run every tool runs');
    assert.equal(session.state(), undefined);
  },

  async 'a rule that asks waits for the answer of a person'() {
    const session = await createSession();
    model.play([write('asked.txt'), write('refused.txt'), say('Done.')]);
    const isAsked = (name) => toasts().some((text) => text.includes(name) && /\/workflow-answer/.test(text));
    await session.send('workflow careful write it');
    await until('the first question is asked', () => isAsked('asked.txt'));
    assert.ok(!existsSync(file('asked.txt')));
    await session.send('workflow answer yes');
    await until('the second question is asked', () => isAsked('refused.txt'));
    assert.ok(existsSync(file('asked.txt')));
    await session.send('/workflow answer no');
    await until('the agent stops', session.isIdle);
    assert.ok(!existsSync(file('refused.txt')));
    model.play([say('ok')]);
    await session.command('cancel-workflow');
  },

  async 'without a run a write asks what to start, where the settings say so'() {
    const settings = file('.pi/workflow-sidecar.json5');
    mkdirSync(file('.pi'), { recursive: true });
    writeFileSync(settings, "{ withoutRun: { tools: 'read-only', start: 'bugfix' } }");
    const session = await createSession();
    model.play([write('door.txt'), say('I stop.'), say('ok'), say('ok')]);
    await session.send('add a door');
    await until('the question is asked', () => toasts().some((text) => /Start bugfix.*Write freely/s.test(text)));
    await session.send('workflow answer start');
    await until('the run starts', () => session.state()?.active);
    await session.prompt('workflow cancel');
    assert.ok(!existsSync(file('door.txt')), 'its first phase is read-only');
    model.play([write('quick.txt'), step('next'), say('Done.')]);
    await session.prompt('workflow quick add it');
    await until('the run ends', () => session.state()?.active === false);
    assert.ok(existsSync(file('quick.txt')));
    model.play([say('As it says.'), write('door.txt'), say('Done.')]);
    await session.prompt('workflow off 30m');
    await session.prompt('add a door');
    await until('it is written', () => existsSync(file('door.txt')));
    rmSync(settings);
  },

  async 'reminders are bounded'() {
    proves('bounded reminder');
    const session = await createSession();
    model.play([]);
    await session.prompt(START);
    await until('the run is paused', () => entriesOf(session.id).some(({ customType, data }) => customType === 'workflow:run' && data.paused));
    const { length } = asked();
    await sleep(BEYOND_COUNTDOWN_MS);
    assert.equal(asked().length, length);
    model.play([say('ok')]);
    await session.prompt('workflow cancel');
  },

  async 'no reminder after a failure of the provider or an abort'() {
    const session = await createSession();
    model.play([fail(400, 'bad request')]);
    await session.send(START);
    await until('the agent stops', async () => asked().length === 1 && (await session.isIdle()));
    await sleep(BEYOND_COUNTDOWN_MS);
    assert.equal(asked().length, 1, 'no reminder after an error');
    model.play([pause(say('I begin and never end'))]);
    await session.send('go on');
    await model.pausedReply();
    await session.abort();
    await until('the agent stops', session.isIdle);
    await sleep(BEYOND_COUNTDOWN_MS);
    assert.equal(asked().length, 1, 'no reminder after an abort');
    model.play([say('ok')]);
    await session.prompt('workflow cancel');
  },

  async 'a sub-agent works under the rules of its session, and cannot move the workflow'() {
    proves('sub-agent');
    const session = await createSession();
    model.play([
      call('task', { description: 'sub', prompt: 'workflow cancel', subagent_type: 'general' }),
      write('sub.txt'),
      step('next'),
      say('Sub-agent done.'),
      say('I stop.'),
    ]);
    await session.send(START);
    await until('the sub-agent has ended', () => asked().length >= 5);
    includes(news()[2], /blocked/);
    includes(news()[3], /Only the main agent/);
    assert.ok(!existsSync(file('sub.txt')));
    assert.equal(session.state().active, true);
    model.play([say('ok')]);
    await session.command('cancel-workflow');
    assert.equal(session.state().active, false);
  },

  async 'an opencode that the agent starts works under the rules of its session'() {
    proves('nested agent');
    const session = await createSession();
    model.play([
      shell(`'${opencode}' run 'Write.' < /dev/null`),
      write('nested.txt'),
      step('next'),
      say('Nested, done.'),
      say('Which one?'),
    ]);
    await session.prompt('workflow open it');
    const seen = asked().join('\n');
    assert.ok(!existsSync(file('nested.txt')), news().join('\n\n'));
    includes(seen, /Only the main agent/);
    assert.equal(session.state().currentPath[0].phaseIndex, 0);
    model.play([say('ok')]);
    await session.command('cancel-workflow');
  },

  async 'compaction keeps the instructions of the phase'() {
    proves('compaction');
    const session = await createSession();
    model.play([say('I stop.'), say('ok'), say('ok'), say('ok')]);
    await session.command('workflow', 'bugfix the export is empty');
    await session.command('workflow-pause');
    await session.summarize();
    await until('the session is idle', session.isIdle);
    await session.prompt('where are we?');
    includes(asked().at(-1), /Find the cause\./);
    await session.command('cancel-workflow');
  },

  async 'a second start needs a confirmation'() {
    const session = await createSession();
    model.play([say('I stop.'), ...Array(6).fill(say('ok'))]);
    await session.command('workflow', 'bugfix first');
    await session.command('workflow-pause');
    await session.command('workflow', 'bugfix second');
    includes(news()[2], /Workflow already active.*workflow-answer/s);
    assert.equal(session.state().taskDescription, 'first');
    await session.send('workflow answer yes');
    await until('the second run begins', () => session.state().taskDescription === 'second');
    await until('the session is idle', session.isIdle);
    await session.command('cancel-workflow');
  },

  async 'an outcome decides where the run goes, and an answer sends it back with a comment'() {
    proves('outcome', 'rejection with comment');
    const session = await createSession();
    const outcome = call('workflow_step', { action: 'next', outcome: 'bug' });
    model.play([step('next'), outcome, step('next'), say('Which one?'), say('ok')]);
    await session.send('workflow flow it');
    await until('the question is asked', () => toasts().some((text) => /Is it right\?/.test(text)));
    includes(news()[1], /bug/);
    includes(news()[2], /Triage → C Check/);
    await session.command('workflow-approve', 'again name the cause');
    await until('the comment arrives', () => asked().some((text) => /name the cause/.test(text) && /Sort it\./.test(text)));
    await until('the session is idle', session.isIdle);
    await session.command('cancel-workflow');
  },

  async 'a budget that is used up, and a question, send no reminder'() {
    proves('budget', 'question pauses');
    for (const [start, replies] of [
      ['workflow tight it', [shell('true'), shell('true'), say('I stop.')]],
      [START, [shell('true'), say('Which one do you want?')]],
    ]) {
      const session = await createSession();
      model.play(replies);
      await session.prompt(start);
      await sleep(BEYOND_COUNTDOWN_MS);
      assert.equal(asked().length, replies.length, start);
      model.play([say('ok')]);
      await session.command('cancel-workflow');
    }
  },

  async 'a secret in a result does not reach the model'() {
    proves('results replaced');
    const settings = join(home, '.pi/agent/workflow-sidecar.json5');
    writeFileSync(settings, JSON.stringify({ results: [{ redact: 'sk-[a-z]{8}' }] }));
    writeFileSync(file('key.txt'), 'first\nkey = sk-abcdefgh\nlast\n');
    try {
      const session = await createSession();
      model.play([shell('cat key.txt'), shell('cat key.txt; false'), say('ok')]);
      await session.prompt('look');
      includes(news()[1], /key = \[redacted\]/);
      assert.ok(!news()[1].includes('abcdefgh'));
      if (news()[2].includes('abcdefgh')) saw('results replaced', 'partly', 'What a failed command prints is not changed.');
    } finally {
      rmSync(settings);
    }
  },

  async 'a program that hangs or prints garbage blocks while a run is active'() {
    for (const [kind, script] of [
      ['hung', 'exec sleep 100'],
      ['garbage', 'while read -r line; do echo "[[ no answer"; done'],
    ]) {
      const session = await createSession();
      model.play([say('I stop.'), say('ok'), write(`${kind}.txt`), say('ok'), say('ok')]);
      await session.command('workflow', 'bugfix the export is empty');
      await session.command('workflow-pause');
      rmSync(binary);
      writeFileSync(binary, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      for (const pid of sidecars()) process.kill(Number(pid), 'SIGKILL');
      try {
        await session.prompt('write it');
        await until('the session is idle', session.isIdle);
        const runs = existsSync(file(`${kind}.txt`));
        saw(`${kind} program`, runs ? 'no' : 'enforced', runs ? 'The call runs.' : undefined);
        await session.command('cancel-workflow');
      } finally {
        await server.stop();
        copyFileSync(sidecar, binary);
        server = await serve();
      }
    }
  },

  async 'a sidecar that is killed is started again with the run'() {
    proves('killed program');
    const session = await createSession();
    model.play([say('I stop.'), say('ok'), write('killed.txt'), say('ok'), say('ok')]);
    await session.command('workflow', 'bugfix the export is empty');
    await session.command('workflow-pause');
    for (const pid of sidecars()) process.kill(Number(pid), 'SIGKILL');
    await session.prompt('write it');
    includes(news()[3], /blocked by the Analyze phase/);
    assert.ok(!existsSync(file('killed.txt')));
    await session.command('cancel-workflow');
  },

  async 'a missing program blocks while a run is active, and only then'() {
    proves('missing program');
    const session = await createSession();
    model.play([say('I stop.'), say('ok')]);
    await session.command('workflow', 'bugfix the export is empty');
    await session.command('workflow-pause');
    rmSync(binary);
    for (const pid of sidecars()) process.kill(Number(pid), 'SIGKILL');
    try {
      model.play([write('missing.txt'), say('ok'), say('cancelled'), write('free-again.txt'), say('ok')]);
      await session.prompt('write it');
      includes(news()[1], /is blocked: a workflow is active/);
      assert.ok(!existsSync(file('missing.txt')));
      await session.command('cancel-workflow');
      assert.equal(session.state().active, false);
      await session.prompt('write it');
      assert.ok(existsSync(file('free-again.txt')), 'without a run every tool runs');
    } finally {
      copyFileSync(sidecar, binary);
      // The client waits longer after each failure.
      await server.stop();
      server = await serve();
    }
  },

  async 'a run goes on in another process'() {
    proves('resume', 'uninstall byte for byte');
    const session = await createSession();
    model.play([say('I stop.'), say('ok')]);
    await session.command('workflow', 'bugfix the export is empty');
    await session.command('workflow-pause');
    assert.equal(session.state()?.active, true);
    await server.stop();
    model.play([write('resumed.txt'), say('I stop.')]);
    const ran = await run(opencode, ['run', '--session', session.id, 'go on'], { cwd: project, env });
    assert.equal(ran.code, 0, ran.stderr);
    const told = `${ran.stderr}\n${JSON.stringify(asked().slice(-2)).slice(-3000)}\n${JSON.stringify(session.state())}`;
    assert.ok(!existsSync(file('resumed.txt')), told);
    includes(news()[1], /blocked by the Analyze phase/);
    model.play([say('Done.')]);
    await run(opencode, ['run', '--session', session.id, 'workflow cancel'], { cwd: project, env });
    assert.equal(session.state().active, false);
    assert.equal((await run(binary, ['uninstall', 'opencode'], { cwd: project, env })).code, 0);
    assert.equal(readFileSync(config, 'utf8'), before);
  },
};

try {
  server = await serve();
  await play(scenarios, root, { host: 'opencode', program: opencode, only });
} finally {
  await server?.stop();
  model.close();
  rmSync(root, { recursive: true, force: true });
}
