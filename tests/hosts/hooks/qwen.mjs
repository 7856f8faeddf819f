/**
 * The real Qwen Code, driven against a scripted model on loopback.
 *
 * Usage: qwen.mjs QWEN SIDECAR [SCENARIO...]
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ScriptedModel, call, say } from '../model.mjs';
import { wholeWorkflow } from './story.mjs';
import { createHome, createRoot, includes, play, proves, run, saw } from './world.mjs';

const [qwen, sidecar, ...only] = process.argv.slice(2);
if (!qwen || !sidecar) {
  console.error('Usage: qwen.mjs QWEN SIDECAR [SCENARIO...]');
  process.exit(2);
}
const root = createRoot();
const model = new ScriptedModel([]);
const url = await model.listen();

// It would rewrite settings of another version.
const SETTINGS = { privacy: { usageStatisticsEnabled: false }, general: { enableAutoUpdate: false }, $version: 4 };

const CHOICE = `
name: Choice
commandName: choice
initialMessage: "Choose: {description}"
budget: { toolCalls: 6 }
phases:
  - { id: look, name: Look, emoji: L, instructions: Look at it., outcomes: { good: ship, poor: tidy } }
  - { id: tidy, name: Tidy, emoji: T, instructions: Tidy it up., approve: { ask: Is it tidy?, choices: { fine: next, revise: tidy }, comment: true } }
  - { id: ship, name: Ship, emoji: S, instructions: Ship it. }
`;

/** The texts of a message. @param {any} message */
const textOf = ({ content }) => (Array.isArray(content) ? content.map((part) => part.text ?? '').join('\n') : (content ?? ''));

/** A home directory with our hooks, and a project. */
async function world(name, program = sidecar) {
  const { home, project, env: bare } = createHome(root, name);
  const settings = join(home, '.qwen/settings.json');
  mkdirSync(join(home, '.qwen'));
  writeFileSync(settings, JSON.stringify(SETTINGS));
  const env = {
    ...bare,
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: 'none',
    OPENAI_MODEL: 'scripted',
    HTTPS_PROXY: url,
    NO_PROXY: '127.0.0.1',
    QWEN_CODE_SUPPRESS_YOLO_WARNING: '1',
  };
  const installed = await run(program, ['install', 'qwen'], { cwd: project, env });
  assert.equal(installed.code, 0, installed.stderr);
  let goesOn = false;
  return {
    home,
    settings,
    file: (path) => join(project, path),
    /** Sends a prompt, with the replies of the model to it; goes on with the session of the last one. */
    async prompt(text, replies, more = {}) {
      model.play(replies);
      const ran = await run(qwen, ['-p', text, '--yolo', ...(goesOn ? ['--continue'] : [])], { cwd: project, env: { ...env, ...more } });
      goesOn = true;
      const texts = model.requests.map(({ messages }) => messages.map(textOf).join('\n'));
      if (process.env.DEBUG) console.error(JSON.stringify({ text, ...ran, n: texts.length, last: texts.at(-1)?.slice(-2000) }, null, 1));
      return { ...ran, texts, sources: model.requests.map(({ source }) => source) };
    },
    sidecar: (...args) => run(program, args, { cwd: project, env }),
    async run() {
      const runs = await run(program, ['runs', '--format', 'json'], { cwd: project, env });
      return JSON.parse(runs.stdout)[0];
    },
  };
}

const step = (action, more = {}) => call('mcp__workflow__workflow_step', { action, ...more });
const write = (path) => call('write_file', { file_path: path, content: 'x\n' });
const shell = (command) => call('run_shell_command', { command, is_background: false });
const last = (ran) => ran.texts.at(-1) ?? '';

const scenarios = {
  async 'a whole workflow'() {
    proves('uninstall byte for byte');
    const told = await world('whole');
    const { settings, sidecar: ours } = told;
    await wholeWorkflow(told, { say, shell, write, step });
    assert.equal((await ours('uninstall', 'qwen')).code, 0);
    assert.equal(readFileSync(settings, 'utf8'), JSON.stringify(SETTINGS));
    assert.ok(!existsSync(join(settings, '../commands/workflow.md')));
  },

  async 'the command /workflow starts a run'() {
    proves('start and context');
    const { prompt, file } = await world('command');
    const ran = await prompt('/workflow bugfix the export is empty', [write(file('a.txt')), say('Shall I?')]);
    includes(ran.texts[0], /Fix this: the export is empty/);
    assert.equal(last(ran).match(/Find the cause\./g)?.length, 1, 'a result is no prompt');
    assert.ok(!existsSync(file('a.txt')));
  },

  async 'reminders are bounded'() {
    proves('bounded reminder');
    const { prompt } = await world('bounded');
    const ran = await prompt('workflow bugfix it', Array.from({ length: 20 }, () => say('done')));
    assert.ok(ran.texts.length > 3 && ran.texts.length < 10, `${ran.texts.length} requests`);
    assert.equal(ran.code, 0);
  },

  async 'a session goes on under its rules, and a cancelled one is free'() {
    proves('question pauses', 'resume');
    const { prompt, file } = await world('resume');
    const ran = await prompt('workflow bugfix it', [shell('true'), say('Which one do you want?')]);
    assert.equal(ran.texts.length, 2, 'no reminder after a question');
    await prompt('the first', [write(file('a.txt')), say('Is that all?')]);
    assert.ok(!existsSync(file('a.txt')));
    await prompt('workflow cancel', []);
    assert.equal(model.requests.length, 0);
    await prompt('go on', [write(file('b.txt')), say('ok')]);
    assert.ok(existsSync(file('b.txt')));
  },

  async 'a secret in a result does not reach the model'() {
    saw('results replaced', 'partly', 'What a failed command prints is not redacted: no hook can change it. A changed result is an error.');
    const { home, prompt, file } = await world('secret');
    const settings = { results: [{ redact: 'sk-[a-z]{8}' }] };
    writeFileSync(join(home, '.pi/agent/workflow-sidecar.json5'), JSON.stringify(settings));
    writeFileSync(file('key.txt'), 'first\nkey = sk-abcdefgh\nlast\n');
    const read = call('read_file', { file_path: file('key.txt') });
    const ran = await prompt('look', [shell('cat key.txt'), shell('cat key.txt >&2'), read, say('ok')]);
    assert.equal(ran.texts.length, 4);
    ran.texts.forEach((text, number) => assert.ok(!text.includes('abcdefgh'), `request ${number}: …${text.slice(-600)}`));
    assert.equal(last(ran).match(/key = \[redacted\]/g)?.length, 3, last(ran));
    includes(last(await prompt('look', [shell('cat key.txt; false'), say('ok')])), /abcdefgh/);
  },

  async 'an outcome chooses the next phase, a rejection goes back with its comment, and a budget ends the work'() {
    proves('outcome', 'rejection with comment', 'budget');
    const { home, prompt, run: active } = await world('outcome');
    mkdirSync(join(home, '.pi/agent/workflows/choice'));
    writeFileSync(join(home, '.pi/agent/workflows/choice/workflow.yaml'), CHOICE);
    let ran = await prompt('workflow choice it', [step('next'), step('next', { outcome: 'poor' }), say('Shall I?')]);
    includes(ran.texts[1], /good.*poor|poor.*good/s);
    includes(ran.texts[2], /→ T Tidy/);
    await prompt('go on', [step('next'), say('I wait. Yes?')]);
    ran = await prompt('workflow approve revise shorter names', [say('I tidy. Shall I?')]);
    includes(last(ran), /shorter names/);
    includes(last(ran), /Tidy it up\./);
    await prompt('workflow cancel', []);
    ran = await prompt('workflow choice again', [...Array.from({ length: 9 }, () => shell('true')), say('Shall I?')]);
    includes(last(ran), /budget/i);
    assert.equal((await active()).phase, 'Look');
  },

  async 'a sub-agent works under the rules, and does not move the workflow'() {
    proves('sub-agent');
    const { prompt, file, run: active } = await world('sub-agent');
    const agent = call('agent', { description: 'sub', prompt: 'workflow cancel', subagent_type: 'general-purpose', run_in_background: false });
    const ran = await prompt('workflow bugfix it', [agent, write(file('sub.txt')), step('next'), say('Sub-agent done?'), say('Shall I?'), say('And now?')]);
    const all = ran.texts.join('\n');
    includes(all, /blocked/);
    includes(all, /Only the main agent/);
    assert.ok(!existsSync(file('sub.txt')));
    assert.equal((await active()).phase, 'Analyze');
  },

  async 'a Qwen Code in the shell of the agent takes no commands'() {
    proves('nested agent');
    const { prompt, run: active } = await world('nested');
    await prompt('workflow bugfix it', [say('Shall I?')]);
    await prompt('workflow cancel', [], { QWEN_CODE: '1' });
    assert.equal((await active()).active, true);
    const ran = await prompt('go on', [shell('echo "is $QWEN_CODE"'), say('Shall I?')]);
    includes(last(ran), /is 1/);
  },

  async 'the phase is repeated after a compaction'() {
    proves('compaction');
    const { prompt } = await world('compaction');
    await prompt('workflow bugfix it', [shell('true'), say('Shall I?')]);
    await prompt('tell me more', [say('It is a long story. '.repeat(200) + 'Shall I?')]);
    const compressed = await prompt('/compress', []);
    assert.ok(compressed.sources.includes('summary'), compressed.stdout + compressed.stderr);
    const ran = await prompt('where are we?', [say('Here. Shall I?')]);
    includes(last(ran), /Find the cause\./);
  },

  async 'a program that is missing, killed, silent or prints garbage'() {
    const program = join(root, 'program');
    const behave = (script) => {
      rmSync(program, { force: true });
      if (script) writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    };
    behave(`exec '${sidecar}' "$@"`);
    const { prompt, file, settings } = await world('broken');
    writeFileSync(settings, readFileSync(settings, 'utf8').replaceAll(sidecar, program).replaceAll('30000', '6000'));
    await prompt('workflow bugfix it', [shell('true'), say('Shall I?')]);
    for (const [name, script] of [
      ['missing', undefined],
      ['killed', 'kill -9 $$'],
      ['hung', 'sleep 20'],
      ['garbage', 'echo garbage'],
    ]) {
      behave(script);
      await prompt('go on', [write(file(`${name}.txt`)), say('Shall I?')]);
      const ran = existsSync(file(`${name}.txt`));
      const note = name === 'hung' ? 'A hook that takes longer than its time lets the call run.' : `The call ran.`;
      saw(`${name} program`, ran ? 'no' : 'enforced', ran ? note : undefined);
      assert.ok(!ran || name === 'hung', name);
    }
    behave(`exec '${sidecar}' "$@"`);
    await prompt('workflow cancel', []);
    behave(undefined);
    await prompt('go on', [write(file('free.txt')), say('ok')]);
    assert.ok(existsSync(file('free.txt')), 'without a run a missing program blocks nothing');
  },
};

await play(scenarios, root, { host: 'qwen', program: qwen, only });
model.close();
