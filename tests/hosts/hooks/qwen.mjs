/**
 * The real Qwen Code, driven against a scripted model on loopback.
 *
 * Usage: qwen.mjs QWEN SIDECAR [SCENARIO...]
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ScriptedModel, call, say } from '../model.mjs';
import { shared } from './shared.mjs';
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

/** The texts of a message. @param {any} message */
const textOf = ({ content }) => (Array.isArray(content) ? content.map((part) => part.text ?? '').join('\n') : (content ?? ''));

/** A home directory with our hooks, and a project. */
async function world(name, program = sidecar) {
  const { home, project, env: bare, workflow } = createHome(root, name);
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
    workflow,
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

  async 'a secret in a file or on standard error does not reach the model'() {
    saw('results replaced', 'partly', 'A changed result is an error.');
    const { home, prompt, file } = await world('secret');
    const settings = { results: [{ redact: 'sk-[a-z]{8}' }] };
    writeFileSync(join(home, '.pi/agent/workflow-sidecar.json5'), JSON.stringify(settings));
    writeFileSync(file('key.txt'), 'first\nkey = sk-abcdefgh\nlast\n');
    const read = call('read_file', { file_path: file('key.txt') });
    const ran = await prompt('look', [shell('cat key.txt'), shell('cat key.txt >&2'), read, say('ok')]);
    assert.equal(ran.texts.length, 4);
    ran.texts.forEach((text, number) => assert.ok(!text.includes('abcdefgh'), `request ${number}: …${text.slice(-600)}`));
    assert.equal(last(ran).match(/key = \[redacted\]/g)?.length, 3, last(ran));
  },
};

const host = {
  world,
  say,
  shell,
  write: (w, name) => write(w.file(name)),
  step: ({ action, ...more }) => step(action, more),
  hasDialogs: false,
  nested: (prompt) => `'${qwen}' -p '${prompt}' --yolo`,
  subagent: (_, prompt, replies) => [
    call('agent', { description: 'sub', prompt, subagent_type: 'general-purpose', run_in_background: false }),
    ...replies,
  ],
  /** A compression that does not make the conversation shorter is dropped. */
  async compact(w) {
    model.used = 50_000;
    await w.prompt('tell me more', [say('Shall I?')]);
    await w.prompt('/compress', []);
    model.used = 10;
  },
  files: { '.qwen/settings.json': JSON.stringify(SETTINGS) },
};
await play({ ...scenarios, ...shared(host, { root, sidecar, name: 'qwen' }) }, root, { host: 'qwen', program: qwen, only });
model.close();
