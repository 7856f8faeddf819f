/**
 * The real Claude Code, driven against a scripted model on loopback: a workflow from its start to its end, and what goes wrong.
 *
 * Usage: claude.mjs CLAUDE SIDECAR
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { call, say, startModel, textsOf } from './messages.mjs';
import { createHome, createRoot, includes, play, proves, run } from './world.mjs';

const [claude, sidecar] = process.argv.slice(2);
if (!claude || !sidecar) {
  console.error('Usage: claude.mjs CLAUDE SIDECAR');
  process.exit(2);
}

const root = createRoot();
const model = await startModel();

/** A home directory with our hooks, and a project. */
async function world(name, program = sidecar) {
  const { home, project, env: bare } = createHome(root, name);
  const env = {
    ...bare,
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: 'none',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    IS_SANDBOX: '1',
  };
  const installed = await run(program, ['install', 'claude'], { cwd: project, env });
  assert.equal(installed.code, 0, installed.stderr);
  let session;
  return {
    home,
    project,
    env,
    file: (path) => join(project, path),
    /** Sends a prompt, with the replies of the model to it; goes on with the session of the last one. */
    async prompt(text, replies, { fresh = false } = {}) {
      model.play(replies);
      const options = ['-p', '--output-format', 'json', '--dangerously-skip-permissions', '--model', 'claude-sonnet-4-5'];
      if (session && !fresh) options.push('--resume', session);
      const ran = await run(claude, [...options, text], { cwd: project, env });
      const result = JSON.parse(ran.stdout.trim().split('\n').at(-1) || '{}');
      session = result.session_id ?? session;
      if (process.env.DEBUG) console.error(JSON.stringify({ text, result, stderr: ran.stderr, n: model.requests.length }, null, 1));
      return { ...ran, result, texts: model.requests.map((request) => textsOf(request).join('\n')) };
    },
    sidecar: (...args) => run(program, args, { cwd: project, env }),
  };
}

const step = (action) => call('mcp__workflow__workflow_step', { action });
const shell = (command) => call('Bash', { command, description: 'A command' });
const last = (ran) => ran.texts.at(-1) ?? '';

const scenarios = {
  async 'a whole workflow'() {
    proves('start and context', 'blocked tool', 'blocked shell write', 'gate', 'approval by prompt');
    const { prompt, project, file, sidecar: ours } = await world('whole');
    const write = (name) => call('Write', { file_path: join(project, name), content: 'x\n' });
    let ran = await prompt('workflow bugfix the export is empty', [
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
      say('I wait.'),
    ]);
    assert.equal(model.left, 0, 'every reply was asked for');
    includes(ran.texts[0], /Fix this: the export is empty/);
    includes(ran.texts[0], /Find the cause\./);
    includes(ran.texts[1], /# demo/);
    includes(ran.texts[2], /blocked/);
    assert.ok(!existsSync(file('a.txt')) && !existsSync(file('b.txt')), 'nothing was written in Analyze');
    includes(ran.texts[4], /is still in /);
    includes(ran.texts[5], /Analyze → F Fix/);
    assert.ok(existsSync(file('c.txt')), 'Fix may write');
    includes(ran.texts[7], /Gate failed: test -f fixed\.txt/);
    includes(ran.texts[9], /Fix → R Review/);
    includes(last(ran), /Is it good\?/);
    ran = await prompt('workflow status', []);
    assert.equal(model.requests.length, 0, 'status needs no model');
    ran = await prompt('/workflow files are broken', []);
    assert.equal(model.requests.length, 0, 'everything behind a slash is a command');
    ran = await prompt('workflow approve approve', [say('Done.')]);
    const runs = await ours('runs', '--format', 'json');
    assert.equal(JSON.parse(runs.stdout)[0].active, false, runs.stdout);
    await prompt('and now?', [write('d.txt'), say('ok')]);
    assert.ok(existsSync(file('d.txt')), 'the run is over');
  },

  async 'reminders are bounded'() {
    proves('bounded reminder');
    const { prompt } = await world('bounded');
    const ran = await prompt('workflow bugfix it', Array.from({ length: 20 }, () => say('done')));
    assert.ok(model.requests.length > 3 && model.requests.length < 10, `${model.requests.length} requests`);
    assert.equal(ran.code, 0);
  },

  async 'a session goes on under its rules, and a cancelled one is free'() {
    proves('question pauses', 'resume');
    const { prompt, project, file } = await world('resume');
    const write = call('Write', { file_path: join(project, 'a.txt'), content: 'x\n' });
    await prompt('workflow bugfix it', [shell('true'), say('Which one do you want?')]);
    assert.equal(model.requests.length, 2, 'no reminder after a question');
    await prompt('the first', [{ ...write, id: 'toolu_a' }, say('Is that all?')]);
    assert.ok(!existsSync(file('a.txt')));
    await prompt('workflow cancel', []);
    assert.equal(model.requests.length, 0);
    await prompt('go on', [{ ...write, id: 'toolu_b' }, say('ok')]);
    assert.ok(existsSync(file('a.txt')));
  },

  async 'a secret in a result does not reach the model'() {
    proves('results replaced');
    const { home, prompt, file } = await world('secret');
    const settings = { results: [{ redact: 'sk-[a-z]{8}' }] };
    writeFileSync(join(home, '.pi/agent/workflow-sidecar.json5'), JSON.stringify(settings));
    writeFileSync(file('key.txt'), 'first\nkey = sk-abcdefgh\nlast\n');
    const ran = await prompt('look', [
      shell('cat key.txt'),
      shell('cat key.txt >&2'),
      call('Read', { file_path: file('key.txt') }),
      say('ok'),
    ]);
    assert.equal(model.left, 0, 'every reply was asked for');
    ran.texts.forEach((text, number) => assert.ok(!text.includes('abcdefgh'), `request ${number}: …${text.slice(-600)}`));
    assert.equal(last(ran).match(/key = \[redacted\]/g)?.length, 3, last(ran));
  },

  async 'a program that is missing, is killed or prints garbage'() {
    proves('missing program', 'killed program', 'garbage program');
    const program = join(root, 'program');
    const behave = (script) => {
      rmSync(program, { force: true });
      if (script) writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    };
    behave(`exec '${sidecar}' "$@"`);
    const { home, project, prompt, file } = await world('broken');
    const settings = join(home, '.claude/settings.json');
    writeFileSync(settings, readFileSync(settings, 'utf8').replaceAll(sidecar, program));
    const write = (name) => call('Write', { file_path: join(project, name), content: 'x\n' });
    await prompt('workflow bugfix it', [shell('true'), say('Shall I?')]);
    for (const [name, script] of [
      ['missing', undefined],
      ['killed', 'kill -9 $$'],
      ['exit 1', 'exit 1'],
      ['garbage', 'echo hello'],
      ['half', `printf '{"decision": "bl'`],
    ]) {
      behave(script);
      await prompt('go on', [write(`${name}.txt`), say('Shall I?')]);
      assert.ok(!existsSync(file(`${name}.txt`)), name);
    }
    behave(`exec '${sidecar}' "$@"`);
    await prompt('workflow cancel', []);
    behave(undefined);
    await prompt('go on', [write('free.txt'), say('ok')]);
    assert.ok(existsSync(file('free.txt')), 'without a run a missing program blocks nothing');
  },

  async 'uninstalled, nothing of it is left'() {
    const { home, sidecar: ours } = await world('uninstalled');
    assert.equal((await ours('uninstall', 'claude')).code, 0);
    const left = (path) => (existsSync(join(home, path)) ? readFileSync(join(home, path), 'utf8') : '');
    assert.doesNotMatch(left('.claude/settings.json') + left('.claude.json'), /workflow-sidecar/);
  },
};

await play(scenarios, root, { host: 'claude', program: claude });
await model.stop();
