/**
 * The real GitHub Copilot CLI, driven against a scripted model on loopback.
 *
 * Usage: copilot.mjs COPILOT SIDECAR [SCENARIO...]
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ScriptedModel, call, say } from '../model.mjs';
import { openScreen, until } from './screen.mjs';
import { shared } from './shared.mjs';
import { wholeWorkflow } from './story.mjs';
import { createHome, createRoot, includes, play, proves, run } from './world.mjs';

const [copilot, sidecar, ...only] = process.argv.slice(2);
if (!copilot || !sidecar) {
  console.error('Usage: copilot.mjs COPILOT SIDECAR [SCENARIO...]');
  process.exit(2);
}
const root = createRoot();
const model = new ScriptedModel([]);
const url = `${await model.listen()}/v1`;

/** A home directory with Copilot and our hooks, and a project. */
async function world(name) {
  const { home, project, env: bare, workflow } = createHome(root, name);
  const env = { ...bare, COPILOT_OFFLINE: 'true', COPILOT_PROVIDER_BASE_URL: url, COPILOT_MODEL: 'scripted', COPILOT_AUTO_UPDATE: 'false' };
  const installed = await run(sidecar, ['install', 'copilot'], { cwd: project, env });
  assert.equal(installed.code, 0, installed.stderr);
  return {
    home,
    project,
    hooks: join(home, '.copilot/hooks/workflow-sidecar.json'),
    workflow,
    file: (path) => join(project, path),
    sidecar: (...args) => run(sidecar, args, { cwd: project, env }),
    env,
    /** Sends a prompt, with the replies of the model to it. */
    async prompt(text, replies, ...more) {
      model.play(replies);
      const ran = await run(copilot, ['-p', text, '--allow-all', ...more], { cwd: project, env });
      const turns = model.requests.filter((request) => request.source !== 'summary');
      const texts = turns.map((request) => JSON.stringify(request.messages));
      return { ...ran, texts, requests: texts.length, summaries: model.requests.length - texts.length };
    },
  };
}

const step = (action) => call('workflow-workflow_step', { action });
const create = (path) => call('create', { path, file_text: 'hello\n' });
const shell = (command) => call('bash', { command, description: 'x' });

/** A world in which a prompt goes on with the session of the last one. */
async function session(name) {
  const { prompt, ...rest } = await world(name);
  let more = [];
  const goOn = (text, replies) => {
    const ran = prompt(text, replies, ...more);
    more = ['--continue'];
    return ran;
  };
  return { ...rest, prompt: goOn };
}

const host = {
  world: session,
  cutsResults: true,
  say,
  shell,
  write: (w, name) => create(w.file(name)),
  step: (args) => call('workflow-workflow_step', args),
  compact: (w) => w.prompt('/compact', []),
  // Its shell has few of its variables.
  nested: (prompt) => `COPILOT_OFFLINE=true COPILOT_PROVIDER_BASE_URL=${url} '${copilot}' -p '${prompt}' --allow-all`,
  subagent: (_, prompt, replies) => [call('task', { description: 'sub', prompt, agent_type: 'general-purpose', name: 'sub', mode: 'sync' }), ...replies],
  files: { '.copilot/hooks/workflow-sidecar.json': '', '.copilot/mcp-config.json': '{ "mcpServers" : {} }\n' },
};

await play(
  {
    ...shared(host, { root, sidecar, name: 'copilot' }),

    'a whole workflow': async () => wholeWorkflow(await session('whole'), { say, shell, write: create, step }),

    async 'an approval in the dialog of the host'() {
      proves('approval in the host');
      const { home, project, env, prompt, sidecar: ours } = await session('dialog');
      writeFileSync(join(home, '.copilot/config.json'), JSON.stringify({ trustedFolders: [project] }));
      await prompt('workflow bugfix it', [step('next'), shell('touch fixed.txt'), step('next'), step('next'), say('I wait.')]);
      model.play([step('next'), say('Done.')]);
      const screen = openScreen(`'${copilot}' --continue --allow-all -i 'go on'`, { cwd: project, env: { ...env, TERM: 'xterm-256color' } });
      try {
        for (const shown of [/Isitgood\?.*Answer:.*enteraccept/, /fortheagent.*enteraccept/]) {
          await screen.shows(shown);
          // In its first moment it takes no key.
          await new Promise((resolve) => setTimeout(resolve, 1000));
          screen.type('\r');
        }
        await until(() => model.requests.length === 2, () => screen.text);
        includes(JSON.stringify(model.requests[1].messages), /Workflow complete|complete/);
      } finally {
        await screen.end();
      }
      assert.equal(JSON.parse((await ours('runs', '--format', 'json')).stdout)[0].active, false);
    },

    async 'a compaction between two calls loses nothing'() {
      proves('compaction');
      const { prompt, env } = await session('between');
      await prompt('workflow bugfix the export is empty', [shell('cat README.md'), say('Which one do you want?')]);
      // The window is so small that the host compacts the conversation between two calls.
      env.COPILOT_PROVIDER_MAX_PROMPT_TOKENS = '20000';
      const look = Array.from({ length: 3 }, () => shell('cat README.md'));
      const ran = await prompt(`look ${'word '.repeat(9000)}`, [...look, say('Is that all?')]);
      assert.ok(ran.summaries > 0, 'the conversation was compacted');
      const inResult = /"role":"tool","tool_call_id":"[^"]*","content":"# demo[^}]*Find the cause\./;
      assert.ok(ran.texts.some((text) => inResult.test(text)), 'the next result has the context');
      includes(ran.texts.at(-1), /Find the cause\./);
    },

    async 'the hooks of Claude Code in a project leave each event to those of Copilot, and stand in for them'() {
      const { home, project, prompt, file, sidecar: ours } = await world('two');
      const trusted = join(home, '.copilot/config.json');
      const before = existsSync(trusted) ? JSON.parse(readFileSync(trusted, 'utf8')) : {};
      writeFileSync(trusted, JSON.stringify({ ...before, trustedFolders: [project] }));
      assert.equal((await ours('install', 'claude', '--project')).code, 0);
      // Both hooks of a call, as they answer.
      const log = join(home, 'answers');
      const watched = join(home, 'watched');
      const script = `#!/bin/sh\no=$('${sidecar}' "$@"); c=$?; echo "$2 $c \${#o}" >> '${log}'; printf '%s' "$o"; exit $c\n`;
      writeFileSync(watched, script, { mode: 0o755 });
      for (const hooks of [join(home, '.copilot/hooks/workflow-sidecar.json'), file('.claude/settings.json')]) {
        writeFileSync(hooks, readFileSync(hooks, 'utf8').replaceAll(sidecar, watched));
      }
      let ran = await prompt('workflow bugfix it', [create(file('a.txt')), say('I stop.'), step('next'), say('Shall I?')]);
      assert.ok(!existsSync(file('a.txt')), 'nothing is written in Analyze');
      includes(ran.texts.at(-1), /Analyze → F Fix/);
      const answers = readFileSync(log, 'utf8').trim().split('\n');
      const ofClaude = answers.filter((line) => line.startsWith('claude'));
      assert.ok(ofClaude.length >= 4, answers.join('\n'));
      assert.ok(ofClaude.every((line) => line === 'claude 0 0'), answers.join('\n'));
      const hosts = JSON.parse((await ours('runs', '--format', 'json')).stdout).map((run) => run.host);
      assert.deepEqual(hosts, ['copilot'], 'one state');
      includes((await ours('doctor')).stdout, /copilot .*hooks of Claude Code, too/);
      await prompt('workflow cancel', [], '--continue');
      assert.equal((await ours('uninstall', 'copilot')).code, 0);
      ran = await prompt('workflow bugfix it', [create(file('b.txt')), say('Shall I?')]);
      assert.ok(!existsSync(file('b.txt')), 'those of Claude Code block');
      includes(ran.texts[0], /Find the cause\./);
      assert.equal(JSON.parse((await ours('runs', '--format', 'json')).stdout)[0].host, 'copilot');
    },
  },
  root,
  { host: 'copilot', program: copilot, only },
);
model.close();
