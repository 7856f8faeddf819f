/**
 * The real Claude Code, driven against a scripted model on loopback: a workflow from its start to its end, and what goes wrong.
 *
 * Usage: claude.mjs CLAUDE SIDECAR [SCENARIO...]
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SUBTASK, call, say, startModel, textsOf } from './messages.mjs';
import { openScreen, until } from './screen.mjs';
import { wholeWorkflow } from './story.mjs';
import { createHome, createRoot, includes, play, proves, run } from './world.mjs';

const [claude, sidecar, ...only] = process.argv.slice(2);
if (!claude || !sidecar) {
  console.error('Usage: claude.mjs CLAUDE SIDECAR');
  process.exit(2);
}

const root = createRoot();
const model = await startModel();

/** A model with which Claude Code has its mode `auto`. */
const MODEL = 'claude-opus-4-6';

/** A home directory with our hooks, and a project. With a plugin, they are in its directory, and not in the configuration. */
async function world(name, program = sidecar, plugin = undefined) {
  const { home, project, env: bare } = createHome(root, name);
  const env = {
    ...bare,
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: 'none',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    IS_SANDBOX: '1',
  };
  const options = plugin ? ['--plugin', join(home, plugin)] : [];
  const more = plugin ? ['--plugin-dir', join(home, plugin)] : [];
  const installed = await run(program, ['install', 'claude', ...options], { cwd: project, env });
  assert.equal(installed.code, 0, installed.stderr);
  let session;
  return {
    home,
    project,
    env,
    file: (path) => join(project, path),
    /** Sends a prompt, with the replies of the model to it; goes on with the session of the last one. */
    async prompt(text, replies, { fresh = false, ofSubtask = [], mode = 'bypassPermissions' } = {}) {
      model.play(replies, ofSubtask);
      const options = ['-p', '--output-format', 'json', '--permission-mode', mode, '--model', MODEL, ...more];
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
const write = (path) => call('Write', { file_path: path, content: 'x\n' });
const calls = { say, shell, write, step };
const last = (ran) => ran.texts.at(-1) ?? '';

const scenarios = {
  'a whole workflow': async () => wholeWorkflow(await world('whole'), calls),

  async 'reminders are bounded'() {
    proves('bounded reminder');
    const { prompt } = await world('bounded');
    const ran = await prompt('workflow bugfix it', Array.from({ length: 20 }, () => say('done')));
    assert.ok(model.requests.length > 3 && model.requests.length < 10, `${model.requests.length} requests`);
    assert.equal(ran.code, 0);
  },

  async 'a session goes on under its rules, and a cancelled one is free'() {
    proves('question pauses', 'resume');
    const { prompt, file } = await world('resume');
    await prompt('workflow bugfix it', [shell('true'), say('Which one do you want?')]);
    assert.equal(model.requests.length, 2, 'no reminder after a question');
    await prompt('the first', [write(file('a.txt')), say('Is that all?')]);
    assert.ok(!existsSync(file('a.txt')));
    await prompt('workflow cancel', []);
    assert.equal(model.requests.length, 0);
    await prompt('go on', [write(file('a.txt')), say('ok')]);
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
    const { home, prompt, file } = await world('broken');
    const settings = join(home, '.claude/settings.json');
    writeFileSync(settings, readFileSync(settings, 'utf8').replaceAll(sidecar, program));
    await prompt('workflow bugfix it', [shell('true'), say('Shall I?')]);
    for (const [name, script] of [
      ['missing', undefined],
      ['killed', 'kill -9 $$'],
      ['exit 1', 'exit 1'],
      ['garbage', 'echo hello'],
      ['half', `printf '{"decision": "bl'`],
    ]) {
      behave(script);
      await prompt('go on', [write(file(`${name}.txt`)), say('Shall I?')]);
      assert.ok(!existsSync(file(`${name}.txt`)), name);
    }
    behave(`exec '${sidecar}' "$@"`);
    await prompt('workflow cancel', []);
    behave(undefined);
    await prompt('go on', [write(file('free.txt')), say('ok')]);
    assert.ok(existsSync(file('free.txt')), 'without a run a missing program blocks nothing');
  },

  async 'a sub-agent works under the rules of the session that started it'() {
    proves('sub-agent');
    const { prompt, file } = await world('subagent');
    const task = { description: 'x', prompt: SUBTASK, subagent_type: 'general-purpose', run_in_background: false };
    const ofSubtask = [write(file('a.txt')), step('next'), say('Done.'), call('SubagentHandback', { message: 'Done.' })];
    await prompt('workflow bugfix it', [call('Agent', task), say('Shall I?')], { ofSubtask });
    assert.ok(model.ofSubtask.length >= 3, `${model.ofSubtask.length} requests of the sub-agent`);
    includes(model.ofSubtask[1], /blocked by the Analyze phase/);
    includes(model.ofSubtask[2], /Only the main agent moves the workflow/);
    assert.ok(!existsSync(file('a.txt')));
  },

  async 'a host that the agent starts works under the rules of its session'() {
    proves('nested agent');
    const { home, prompt, file, sidecar: ours } = await world('nested');
    const workflow = join(home, '.pi/agent/workflows/bugfix/workflow.yaml');
    const text = readFileSync(workflow, 'utf8');
    writeFileSync(workflow, text.replace('tools: read-only', 'tools: { blacklist: [write] }'));
    const nested = (task) => shell(`'${claude}' -p --dangerously-skip-permissions --model ${MODEL} '${task}'`);
    const ofSubtask = [write(file('a.txt')), step('next'), say('Done.')];
    const replies = [nested(SUBTASK), nested('workflow skip'), say('Shall I?')];
    const ran = await prompt('workflow bugfix it', replies, { ofSubtask });
    assert.equal(model.left, 0, 'the nested session with the command asked nothing');
    assert.equal(model.ofSubtask.length, 3, last(ran));
    includes(model.ofSubtask[1], /blocked during the Analyze phase/);
    includes(model.ofSubtask[2], /Only the main agent moves the workflow/);
    includes(last(ran), /only the user may give it/);
    assert.ok(!existsSync(file('a.txt')));
    const runs = JSON.parse((await ours('runs', '--format', 'json')).stdout);
    assert.deepEqual([runs.length, runs[0].phase], [1, 'Analyze']);
  },

  async 'a call that needs consent is asked about on the screen, and runs nowhere else'() {
    const { home, project, env, prompt, file } = await world('consent');
    const unknown = (name) => shell(`./unknown ${name}`);
    writeFileSync(file('unknown'), '#!/bin/sh\ntouch "$1"\n', { mode: 0o755 });
    for (const mode of ['bypassPermissions', 'auto']) {
      const ran = await prompt('workflow bugfix it', [unknown(mode), say('Shall I?')], { fresh: true, mode });
      includes(last(ran), /needs the consent of the user, and this host cannot ask/);
      assert.ok(!existsSync(file(mode)), mode);
    }
    // So that it asks nothing of a new user.
    const seen = { hasCompletedOnboarding: true, projects: { [project]: { hasTrustDialogAccepted: true } } };
    const config = JSON.parse(readFileSync(join(home, '.claude.json'), 'utf8'));
    const key = { customApiKeyResponses: { approved: ['none'], rejected: [] } };
    writeFileSync(join(home, '.claude.json'), JSON.stringify({ ...config, ...seen, ...key }));
    const settings = JSON.parse(readFileSync(join(home, '.claude/settings.json'), 'utf8'));
    const asksLess = { skipDangerousModePermissionPrompt: true, tui: 'default', permissions: { allow: ['Bash'] } };
    writeFileSync(join(home, '.claude/settings.json'), JSON.stringify({ ...settings, ...asksLess }));
    const { stdout } = await run(claude, ['--version'], { env });
    const [, minor, patch] = stdout.split('.').map((part) => parseInt(part, 10));
    const asks = minor > 1 || patch >= 211;
    for (const mode of ['bypassPermissions', 'auto']) {
      model.play([unknown(`${mode}-screen`), unknown(`${mode}-again`), say('Shall I?')]);
      const line = `'${claude}' --permission-mode ${mode} --model ${MODEL} 'workflow bugfix it'`;
      const screen = openScreen(line, { cwd: project, env: { ...env, TERM: 'xterm' } });
      try {
        if (asks) {
          for (const name of mode === 'auto' ? ['screen', 'again'] : ['screen']) {
            await screen.shows(/Itneedstheconsentoftheuser.*Doyouwanttoproceed/);
            assert.ok(!existsSync(file(`${mode}-${name}`)), 'nothing runs before the answer');
            screen.type('\r');
            await until(() => existsSync(file(`${mode}-${name}`)), () => screen.text);
          }
        } else {
          await until(() => model.left === 0, () => screen.text);
          assert.ok(!existsSync(file(`${mode}-screen`)));
        }
      } finally {
        await screen.end();
      }
    }
  },

  async 'a plugin has the same'() {
    const { prompt, file } = await world('plugin', sidecar, 'plugin');
    const step = call('mcp__plugin_workflow-sidecar_workflow__workflow_step', { action: 'next' });
    const replies = [write(file('a.txt')), step, write(file('b.txt')), say('Shall I?')];
    const ran = await prompt('/workflow-sidecar:workflow bugfix it', replies);
    includes(ran.texts[1], /blocked/);
    includes(ran.texts[2], /Analyze → F Fix/);
    assert.ok(!existsSync(file('a.txt')) && existsSync(file('b.txt')));
  },

  async 'uninstalled, nothing of it is left'() {
    const { home, sidecar: ours } = await world('uninstalled');
    assert.equal((await ours('uninstall', 'claude')).code, 0);
    const left = (path) => (existsSync(join(home, path)) ? readFileSync(join(home, path), 'utf8') : '');
    assert.doesNotMatch(left('.claude/settings.json') + left('.claude.json'), /workflow-sidecar/);
  },
};

await play(scenarios, root, { host: 'claude', program: claude, only });
await model.stop();
