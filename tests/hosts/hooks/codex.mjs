/**
 * The real Codex CLI, driven against a scripted model on loopback: a workflow from its start to its end, and what goes wrong.
 *
 * Usage: codex.mjs CODEX SIDECAR
 */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { call, callWithText, say, startModel } from './responses.mjs';
import { wholeWorkflow } from './story.mjs';
import { createHome, createRoot, includes, play, proves, run } from './world.mjs';

const [codex, sidecar] = process.argv.slice(2);
if (!codex || !sidecar) {
  console.error('Usage: codex.mjs CODEX SIDECAR');
  process.exit(2);
}

const root = createRoot();
const model = await startModel();

/** A home directory with Codex and our hooks, and a project. */
async function world(name, program = sidecar) {
  const { home, project, env: bare } = createHome(root, name);
  mkdirSync(join(home, '.codex'));
  const config = [
    'model = "gpt-5.5"',
    'model_provider = "scripted"',
    'approval_policy = "never"',
    'sandbox_mode = "danger-full-access"',
    '[model_providers.scripted]',
    'name = "scripted"',
    `base_url = "${model.url}"`,
    'wire_api = "responses"',
    '',
  ];
  writeFileSync(join(home, '.codex/config.toml'), config.join('\n'));
  const env = { ...bare, CODEX_HOME: join(home, '.codex') };
  const installed = await run(program, ['install', 'codex'], { cwd: project, env });
  assert.equal(installed.code, 0, installed.stderr);
  let session;
  return {
    home,
    project,
    env,
    file: (path) => join(project, path),
    /** Sends a prompt, with the replies of the model to it; goes on with the session of the last one. */
    async prompt(text, replies, { fresh = false, bypass = true } = {}) {
      model.play(replies);
      const options = ['--json', '--skip-git-repo-check'];
      if (bypass) options.push('--dangerously-bypass-hook-trust');
      const args = session && !fresh ? ['exec', 'resume', ...options, session, text] : ['exec', ...options, text];
      const ran = await run(codex, args, { cwd: project, env });
      const lines = ran.stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line));
      session ??= lines.find((line) => line.type === 'thread.started')?.thread_id;
      return { ...ran, lines, texts: model.requests.map((request) => JSON.stringify(request.input)) };
    },
    sidecar: (...args) => run(program, args, { cwd: project, env }),
  };
}

const step = (action) => call('workflow_step', { action }, 'mcp__workflow');
const patch = (file) => callWithText('apply_patch', `*** Begin Patch\n*** Add File: ${file}\n+hello\n*** End Patch\n`);
const shell = (cmd) => call('exec_command', { cmd });
const calls = { say, shell, write: patch, step };
/** The last request's text, with the answers of the tools. */
const last = (ran) => ran.texts.at(-1) ?? '';

const scenarios = {
  'a whole workflow': async () => wholeWorkflow(await world('whole'), calls),

  async 'reminders are bounded'() {
    proves('bounded reminder');
    const { prompt } = await world('bounded');
    const ran = await prompt('workflow bugfix it', Array.from({ length: 20 }, () => say('done')));
    assert.equal(model.requests.length, 4, 'three reminders without a tool call in between');
    assert.equal(ran.code, 0);
  },

  async 'a session goes on under its rules, and a cancelled one is free'() {
    proves('question pauses', 'resume');
    const { prompt, file } = await world('resume');
    await prompt('workflow bugfix it', [shell('true'), say('Which one do you want?')]);
    assert.equal(model.requests.length, 2, 'no reminder after a question');
    await prompt('the first', [patch('a.txt'), say('Is that all?')]);
    assert.ok(!existsSync(file('a.txt')));
    await prompt('workflow cancel', []);
    assert.equal(model.requests.length, 0);
    await prompt('go on', [patch('a.txt'), say('ok')]);
    assert.ok(existsSync(file('a.txt')));
  },

  async 'a call of workflow_step without hooks is refused'() {
    const { home, prompt } = await world('unhooked');
    rmSync(join(home, '.codex/hooks.json'));
    const ran = await prompt('hello', [step('next'), say('ok')]);
    includes(last(ran), /hooks of workflow-sidecar do not run/);
  },

  async 'a program that is missing, hangs or prints garbage'() {
    proves('missing program', 'killed program', 'garbage program');
    const program = join(root, 'program');
    const behave = (script) => {
      rmSync(program, { force: true });
      if (script) writeFileSync(program, `#!/bin/sh\n${script}\n`);
      if (script) chmodSync(program, 0o755);
    };
    const good = `exec '${sidecar}' "$@"`;
    behave(good);
    const { home, prompt, file } = await world('broken');
    const hooks = join(home, '.codex/hooks.json');
    writeFileSync(hooks, readFileSync(hooks, 'utf8').replaceAll(sidecar, program));
    await prompt('workflow bugfix it', [shell('true'), say('Shall I?')]);
    // It has to be the hooks that break, so no server of the new program is asked.
    for (const [name, script] of [
      ['missing', undefined],
      ['killed', 'kill -9 $$'],
      ['exit 1', 'exit 1'],
      ['garbage', 'echo hello'],
      ['half', `printf '{"decision": "bl'`],
      ['holds its output open', `sleep 5 >/dev/null 2>&1 & ${good}`],
    ]) {
      behave(script);
      await prompt('go on', [patch(`${name}.txt`), say('Shall I?')]);
      assert.ok(!existsSync(file(`${name}.txt`)), name);
    }
    behave(good);
    await prompt('workflow cancel', []);
    behave(undefined);
    await prompt('go on', [patch('free.txt'), say('ok')]);
    assert.ok(existsSync(file('free.txt')), 'without a run a missing program blocks nothing');
  },

  async 'hooks run once install --trust was asked for, and not before'() {
    const { project, prompt, env, file, sidecar: ours } = await world('trust');
    const bin = join(codex, '..');
    const withCodex = { cwd: project, env: { ...env, PATH: `${bin}:${env.PATH}` } };
    const doctor = async () => (await run(sidecar, ['doctor'], withCodex)).stdout;
    includes(await doctor(), /codex .*does not trust 6 of 6 hooks/);
    await prompt('workflow bugfix it', [patch('a.txt'), say('ok')], { bypass: false });
    assert.ok(existsSync(file('a.txt')), 'Codex runs no hook that it does not trust');
    const trusted = await run(sidecar, ['install', 'codex', '--trust'], withCodex);
    assert.equal(trusted.code, 0, trusted.stderr);
    includes(await doctor(), /codex .*0\.169\.0; hooks and MCP server installed for you and responding; trusted/);
    await prompt('workflow bugfix it', [patch('b.txt'), say('Shall I?')], { fresh: true, bypass: false });
    assert.ok(!existsSync(file('b.txt')), 'a trusted hook blocks');
    assert.equal((await ours('uninstall', 'codex')).code, 0);
  },

  async 'uninstalled, nothing of it is left'() {
    const { home, sidecar: ours } = await world('uninstalled');
    assert.equal((await ours('uninstall', 'codex')).code, 0);
    assert.ok(!existsSync(join(home, '.codex/hooks.json')));
    assert.doesNotMatch(readFileSync(join(home, '.codex/config.toml'), 'utf8'), /workflow/);
  },
};

await play(scenarios, root, { host: 'codex', program: codex });
await model.stop();
