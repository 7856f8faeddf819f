/**
 * The real Claude Code, driven against a scripted model on loopback: a workflow from its start to its end, and what goes wrong.
 *
 * Usage: claude.mjs CLAUDE SIDECAR [SCENARIO...]
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SUBTASK, call, say, startModel, textsOf } from './messages.mjs';
import { openScreen, until } from './screen.mjs';
import { wholeWorkflow } from './story.mjs';
import { shared } from './shared.mjs';
import { createHome, createRoot, includes, play, proves, run, saw } from './world.mjs';

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
  const { home, project, env: bare, workflow } = createHome(root, name);
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
  const change = (name, members) => {
    const path = join(home, name);
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), ...members }));
  };
  let session;
  return {
    home,
    project,
    env,
    workflow,
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
    /** Opens a terminal with a prompt. @param {string} text @param {string} mode */
    open(text, mode) {
      // So that it asks nothing of a new user.
      change('.claude.json', {
        hasCompletedOnboarding: true,
        projects: { [project]: { hasTrustDialogAccepted: true } },
        customApiKeyResponses: { approved: ['none'], rejected: [] },
      });
      change('.claude/settings.json', { skipDangerousModePermissionPrompt: true, tui: 'default', permissions: { allow: ['Bash'] } });
      const line = `'${claude}' --permission-mode ${mode} --model ${MODEL} '${text}'`;
      return openScreen(line, { cwd: project, env: { ...env, TERM: 'xterm' } });
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

  async 'an approval in the dialog of the host, which a hook answers, and with nobody there'() {
    proves('approval in the host');
    const { home, prompt } = await world('dialog');
    let ran = await prompt('workflow bugfix it', [shell('touch fixed.txt'), step('next'), shell('touch fixed.txt'), step('next'), step('next'), say('I wait.')]);
    includes(last(ran), /Waiting for approval: Is it good\?/);
    const file = join(home, '.claude/settings.json');
    const settings = JSON.parse(readFileSync(file, 'utf8'));
    const answer = { hookEventName: 'Elicitation', action: 'accept', content: { choice: 'approve' } };
    const command = `cat > '${home}/asked.json'; echo '${JSON.stringify({ hookSpecificOutput: answer })}'`;
    settings.hooks.Elicitation = [{ hooks: [{ type: 'command', command }] }];
    writeFileSync(file, JSON.stringify(settings));
    ran = await prompt('go on', [step('next'), say('Done.')]);
    const asked = JSON.parse(readFileSync(join(home, 'asked.json'), 'utf8'));
    includes(asked.message, /^Is it good\?/);
    includes(last(ran), /Workflow complete|complete/);
  },

  async 'a secret in a file does not reach the model'() {
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
    const mentioned = await prompt('look at @key.txt', [say('ok')], { fresh: true });
    if (last(mentioned).includes('abcdefgh')) saw('results replaced', 'partly', 'Files mentioned with `@` are read as they are.');
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
    // Without a run both are under the same door.
    await prompt('workflow cancel', []);
    const agent = join(home, '.pi/agent/workflow-sidecar.json5');
    writeFileSync(agent, "{ withoutRun: { tools: { blacklist: ['write'] }, start: 'bugfix' } }");
    const task = { description: 'x', prompt: SUBTASK, subagent_type: 'general-purpose', run_in_background: false };
    for (const started of [nested(SUBTASK), call('Agent', task)]) {
      const ofSubtask = [write(file('a.txt')), say('Done.'), call('SubagentHandback', { message: 'Done.' })];
      await prompt('go on', [started, say('Shall I?')], { ofSubtask });
      includes(model.ofSubtask[1], /workflow bugfix \{description\}/);
      assert.ok(!existsSync(file('a.txt')));
    }
  },

  async 'a call that needs consent is asked about on the screen, and runs nowhere else'() {
    const { env, prompt, file, open } = await world('consent');
    const unknown = (name) => shell(`./unknown ${name}`);
    writeFileSync(file('unknown'), '#!/bin/sh\ntouch "$1"\n', { mode: 0o755 });
    for (const mode of ['bypassPermissions', 'auto']) {
      const ran = await prompt('workflow bugfix it', [unknown(mode), say('Shall I?')], { fresh: true, mode });
      includes(last(ran), /needs the consent of the user, and this host cannot ask/);
      assert.ok(!existsSync(file(mode)), mode);
    }
    const { stdout } = await run(claude, ['--version'], { env });
    const [, minor, patch] = stdout.split('.').map((part) => parseInt(part, 10));
    const asks = minor > 1 || patch >= 211;
    for (const mode of ['bypassPermissions', 'auto']) {
      model.play([unknown(`${mode}-screen`), unknown(`${mode}-again`), say('Shall I?')]);
      const screen = open('workflow bugfix it', mode);
      try {
        if (asks) {
          for (const name of mode === 'auto' ? ['screen', 'again'] : ['screen']) {
            await screen.shows(/Itneedstheconsentoftheuser.*Doyouwanttoproceed/);
            assert.ok(!existsSync(file(`${mode}-${name}`)), 'nothing runs before the answer');
            await screen.accept(() => existsSync(file(`${mode}-${name}`)));
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

  async 'the line below the prompt follows the run'() {
    const { open } = await world('line');
    // It is asked for a moment after each message.
    model.play([shell('sleep 2'), step('next'), shell('sleep 2'), say('Shall I?')]);
    const screen = open('workflow bugfix it', 'bypassPermissions');
    try {
      await screen.shows(/Bugfix>AAnalyze\[1\/3\]/);
      await screen.shows(/Bugfix>FFix\[2\/3\]/);
      await screen.shows(/⏸[^⏸]*·Bugfix>FFix\[2\/3\]/);
    } finally {
      await screen.end();
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

};

const host = {
  world,
  say,
  shell,
  write: (w, name) => write(w.file(name)),
  step: (args) => call('mcp__workflow__workflow_step', args),
  compact: (w) => w.prompt('/compact', [say('A summary.')]),
  files: { '.claude/settings.json': '{ "model" :\t"sonnet" }' },
};
await play({ ...scenarios, ...shared(host, { root, sidecar, name: 'claude' }) }, root, { host: 'claude', program: claude, only });
await model.stop();
