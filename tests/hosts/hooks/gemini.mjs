/**
 * The real Gemini CLI, driven against a scripted model on loopback.
 *
 * Usage: gemini.mjs GEMINI SIDECAR [SCENARIO...]
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { shared } from './shared.mjs';
import { wholeWorkflow } from './story.mjs';
import { createHome, createRoot, includes, play, proves, run } from './world.mjs';

const [gemini, sidecar, ...only] = process.argv.slice(2);
if (!gemini || !sidecar) {
  console.error('Usage: gemini.mjs GEMINI SIDECAR [SCENARIO...]');
  process.exit(2);
}
const root = createRoot();

/** A text. @param {string} text */
const say = (text) => ({ text });
/** A call of a tool. @param {string} name @param {object} args */
const call = (name, args) => ({ functionCall: { name, args } });

/** A scripted model that speaks Gemini's API: each request with tools gets the next reply. @param {number} used tokens, as it says */
async function startModel(replies, used = 2) {
  const requests = [];
  const script = [...replies];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const url = request.url ?? '';
    const asked = body ? JSON.parse(body) : {};
    const isTurn = /generateContent/i.test(url) && asked.tools?.some((tool) => tool.functionDeclarations?.length);
    if (isTurn) requests.push(JSON.stringify(asked.contents));
    const part = isTurn ? (script.shift() ?? say('nothing is left to say')) : say('{}');
    const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
    if (isTurn) usageMetadata.promptTokenCount = used;
    const candidates = [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }];
    const answer = JSON.stringify(url.includes('countTokens') ? { totalTokens: 1 } : { candidates, usageMetadata });
    const isStream = url.includes('alt=sse');
    response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
    response.end(isStream ? `data: ${answer}\n\n` : answer);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A home directory with Gemini and our hooks, and a project that is trusted. */
async function world(name) {
  const { home, project, env: bare, workflow } = createHome(root, name);
  mkdirSync(join(home, '.gemini'));
  const settings = { security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: true } } };
  writeFileSync(join(home, '.gemini/settings.json'), JSON.stringify(settings));
  writeFileSync(join(home, '.gemini/trustedFolders.json'), JSON.stringify({ [project]: 'TRUST_FOLDER', [home]: 'TRUST_FOLDER' }));
  const env = { ...bare, GEMINI_API_KEY: 'none', NO_COLOR: '1' };
  const installed = await run(sidecar, ['install', 'gemini'], { cwd: project, env });
  assert.equal(installed.code, 0, installed.stderr);
  return {
    hooks: join(home, '.gemini/settings.json'),
    home,
    workflow,
    file: (path) => join(project, path),
    sidecar: (...args) => run(sidecar, args, { cwd: project, env }),
    /** Sends a prompt, with the replies of the model to it. */
    async prompt(text, replies, { more = [], used } = {}) {
      const model = await startModel(replies, used);
      const options = { cwd: project, env: { ...env, GOOGLE_GEMINI_BASE_URL: model.url } };
      const ran = await run(gemini, ['-p', text, '--yolo', ...more], options);
      model.stop();
      return { ...ran, texts: model.requests };
    },
  };
}

const goOn = { more: ['--resume', 'latest'] };
const step = (action) => call('mcp_workflow_workflow_step', { action });
const write = (path) => call('write_file', { file_path: path, content: 'hello\n' });
const shell = (command) => call('run_shell_command', { command });

/** A world in which a prompt goes on with the session of the last one. */
async function session(name) {
  const { prompt, ...rest } = await world(name);
  let more = {};
  const next = (text, replies) => {
    const ran = prompt(text, replies, more);
    more = goOn;
    return ran;
  };
  return { ...rest, prompt: next };
}

const host = {
  world: session,
  cutsResults: true,
  say,
  shell,
  write: (w, name) => write(w.file(name)),
  step: (args) => call('mcp_workflow_workflow_step', args),
  hasDialogs: false,
  nested: (prompt) => `'${gemini}' -p '${prompt}' --yolo`,
  subagent: (_, prompt, replies) => [call('invoke_agent', { agent_name: 'generalist', prompt }), ...replies],
  files: { '.gemini/settings.json': '{"ui":  {}\n}' },
};

await play(
  {
    ...shared(host, { root, sidecar, name: 'gemini' }),

    'a whole workflow': async () => wholeWorkflow(await session('whole'), { say, shell, write, step }),

    async 'the command /workflow starts a run and shows it'() {
      const { prompt, file } = await world('command');
      let ran = await prompt('/workflow bugfix the export is empty', [
        write(file('a.txt')),
        say('I stop early.'),
        say('Shall I?'),
      ]);
      includes(ran.texts[0], /Find the cause\./);
      includes(ran.texts[0], /the export is empty/);
      assert.ok(!existsSync(file('a.txt')), 'nothing is written in Analyze');
      ran = await prompt('/workflow status', [say('not asked')], goOn);
      assert.equal(ran.texts.length, 0, 'the model is not asked');
      includes(ran.stdout + ran.stderr, /Analyze/);
      ran = await prompt('/workflow files are broken', [say('not asked')], goOn);
      assert.equal(ran.texts.length, 0, 'the model is not asked');
      includes(ran.stdout + ran.stderr, /Available: bugfix/);
    },

    async 'a compression loses nothing, and a check without one costs nothing'() {
      proves('compaction');
      const { prompt, file } = await world('compression');
      writeFileSync(file('long.txt'), 'word '.repeat(16_000));
      const look = (times) => Array.from({ length: times }, () => shell('cat README.md'));
      const times = (text) => text.match(/Find the cause\./g)?.length ?? 0;
      let ran = await prompt('workflow bugfix the export is empty', [...look(5), say('Which one do you want?')]);
      const given = times(ran.texts.at(-1));
      ran = await prompt('go on', [...look(5), say('Is that all?')], goOn);
      assert.equal(times(ran.texts.at(-1)), given, 'nothing was compressed');
      // Nearly all of the window is used, it says.
      const read = call('read_file', { file_path: file('long.txt') });
      ran = await prompt('read it', [read, read, ...look(3), say('Is that all?')], { ...goOn, used: 1_000_000 });
      const after = ran.texts.at(-1);
      includes(after, /\{\\?"state\\?"|\{\}|additional context/);
      includes(after, /hook_context[^]*Find the cause\./);
    },

  },
  root,
  { host: 'gemini', program: gemini, only },
);
