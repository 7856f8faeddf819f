/**
 * The real Codex CLI, driven against a scripted model on loopback: a workflow from its start to its end, and what goes wrong.
 *
 * Usage: codex.mjs CODEX SIDECAR [SCENARIO...]
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { call, callWithText, say, startModel } from './responses.mjs';
import { wholeWorkflow } from './story.mjs';
import { shared } from './shared.mjs';
import { createHome, createRoot, includes, play, proves, run, saw } from './world.mjs';

const [codex, sidecar, ...only] = process.argv.slice(2);
if (!codex || !sidecar) {
  console.error('Usage: codex.mjs CODEX SIDECAR [SCENARIO...]');
  process.exit(2);
}

const root = createRoot();
const model = await startModel();

/** A home directory with Codex and our hooks, and a project. */
async function world(name, program = sidecar) {
  const { home, project, env: bare, workflow } = createHome(root, name);
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
    workflow,
    file: (path) => join(project, path),
    /** Sends a prompt to the session in `codex app-server`, which editors use; `answer` is what the user says in its dialog. */
    async promptInEditor(text, replies, answer) {
      model.play(replies);
      const asked = [];
      const child = spawn(codex, ['app-server'], { cwd: project, env, stdio: ['pipe', 'pipe', 'ignore'] });
      const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
      const waiting = new Map();
      const request = (method, params) => {
        const id = waiting.size + 1;
        send({ id, method, params });
        return new Promise((resolve) => waiting.set(id, resolve));
      };
      const ended = new Promise((resolve, reject) => {
        child.on('close', () => reject(new Error('codex app-server has ended')));
        createInterface({ input: child.stdout }).on('line', (line) => {
          const { id, method, params, result } = JSON.parse(line);
          if (method === 'mcpServer/elicitation/request') {
            asked.push(params);
            send({ id, result: { action: 'accept', content: answer, _meta: null } });
          } else if (method === undefined) waiting.get(id)?.(result);
          else if (method === 'turn/completed') resolve(undefined);
        });
      });
      await request('initialize', { clientInfo: { name: 'drill', version: '1' }, capabilities: { experimentalApi: true } });
      send({ method: 'initialized' });
      const rest = { sandbox_approval: true, rules: true, skill_approval: true, request_permissions: true };
      await request('thread/resume', { threadId: session, approvalPolicy: { granular: { ...rest, mcp_elicitations: true } } });
      await request('turn/start', { threadId: session, input: [{ type: 'text', text, text_elements: [] }] });
      await ended;
      child.kill();
      return { asked, texts: model.requests.map((request) => JSON.stringify(request.input)) };
    },
    /** Forks the session, and sends the copy a prompt. */
    fork(text, replies) {
      model.play(replies);
      return run(codex, ['exec', 'fork', '--json', '--skip-git-repo-check', '--dangerously-bypass-hook-trust', session, text], { cwd: project, env });
    },
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
const calls = { say, shell, write: patch, step, repeats: true };
/** The last request's text, with the answers of the tools. */
const last = (ran) => ran.texts.at(-1) ?? '';

const scenarios = {
  'a whole workflow': async () => wholeWorkflow(await world('whole'), calls),

  async 'an approval in the dialog of the host'() {
    proves('approval in the host');
    const { promptInEditor, prompt, project, env, sidecar: ours } = await world('dialog');
    const withCodex = { ...env, PATH: `${join(codex, '..')}:${env.PATH}` };
    assert.equal((await run(sidecar, ['install', 'codex', '--trust'], { cwd: project, env: withCodex })).code, 0);
    const ran = await prompt('workflow bugfix it', [step('next'), shell('touch fixed.txt'), step('next'), step('next'), say('I wait.')]);
    includes(last(ran), /Waiting for approval: Is it good\?/);
    const { asked, texts } = await promptInEditor('go on', [step('next'), say('Done.')], { choice: 'approve' });
    includes(asked[0]?.message, /^Is it good\?/);
    includes(texts.at(-1), /Workflow complete|complete/);
    assert.equal(JSON.parse((await ours('runs', '--format', 'json')).stdout)[0].active, false);
  },

  async 'the hooks of two installations judge a stop once'() {
    proves('bounded reminder');
    const { home, project, prompt, sidecar: ours } = await world('twice');
    const config = join(home, '.codex/config.toml');
    writeFileSync(config, `${readFileSync(config, 'utf8')}\n[projects."${project}"]\ntrust_level = "trusted"\n`);
    assert.equal((await ours('install', 'codex', '--project')).code, 0);
    const ran = await prompt('workflow bugfix it', [shell('true'), ...Array.from({ length: 8 }, () => say('I stop.'))]);
    const reminders = last(ran).match(/is still in /g)?.length;
    assert.deepEqual([reminders, ran.texts.length], [3, 5], last(ran).slice(-3000));
  },

  async 'a fork goes on with a run of its own'() {
    proves('resume');
    const { prompt, fork, file, sidecar: ours } = await world('fork');
    await prompt('workflow bugfix it', [say('Which one?')]);
    const forked = await fork('go on', [patch('a.txt'), step('next'), patch('b.txt'), say('Shall I?')]);
    const runs = JSON.parse((await ours('runs', '--format', 'json')).stdout);
    assert.deepEqual(runs.map(({ phase }) => phase).sort(), ['Analyze', 'Fix'], forked.stdout + forked.stderr);
    assert.notEqual(runs[0].taskId, runs[1].taskId);
    assert.ok(!existsSync(file('a.txt')) && existsSync(file('b.txt')));
  },

  async 'a call of workflow_step without hooks is refused'() {
    const { home, prompt } = await world('unhooked');
    rmSync(join(home, '.codex/hooks.json'));
    const ran = await prompt('hello', [step('next'), say('ok')]);
    includes(last(ran), /hooks of workflow-sidecar do not run/);
  },

  async 'hooks run once install --trust was asked for, and not before'() {
    const { project, prompt, env, file, sidecar: ours } = await world('trust');
    const bin = join(codex, '..');
    const withCodex = { cwd: project, env: { ...env, PATH: `${bin}:${env.PATH}` } };
    const doctor = async () => (await run(sidecar, ['doctor'], withCodex)).stdout;
    includes(await doctor(), /codex .*does not trust 6 of 6 hooks/);
    await prompt('workflow bugfix it', [patch('a.txt'), say('ok')], { bypass: false });
    assert.ok(existsSync(file('a.txt')), 'Codex runs no hook that it does not trust');
    saw('start and context', 'enforced', 'No hook runs before you trust it.');
    const trusted = await run(sidecar, ['install', 'codex', '--trust'], withCodex);
    assert.equal(trusted.code, 0, trusted.stderr);
    includes(await doctor(), /codex .*0\.169\.0; hooks and MCP server installed for you and responding; trusted/);
    await prompt('workflow bugfix it', [patch('b.txt'), say('Shall I?')], { fresh: true, bypass: false });
    assert.ok(!existsSync(file('b.txt')), 'a trusted hook blocks');
    assert.equal((await ours('uninstall', 'codex')).code, 0);
  },

};

const host = {
  world,
  say,
  repeats: true,
  shell,
  write: (_, name) => patch(name),
  /** Of a model that Codex offers sub-agents to. */
  subagent(w, message, replies) {
    const config = join(w.home, '.codex/config.toml');
    writeFileSync(config, readFileSync(config, 'utf8').replace('gpt-5.5', 'gpt-6-sol'));
    return [
      call('spawn_agent', { message, task_name: 'sub', agent_type: 'worker', fork_turns: 'none' }, 'collaboration'),
      call('wait_agent', { timeout_ms: 30_000 }, 'collaboration'),
      ...replies.map((reply) => ({ ...reply, only: '"type":"agent_message"' })),
    ];
  },
  nested: (prompt) => `'${codex}' exec --skip-git-repo-check --dangerously-bypass-hook-trust '${prompt}' < /dev/null`,
  /** A limit that any answer exceeds. */
  async compact(w) {
    const config = join(w.home, '.codex/config.toml');
    const before = readFileSync(config, 'utf8');
    writeFileSync(config, `model_auto_compact_token_limit = 1\n${before}`);
    await w.prompt('go on', [say('A summary.'), say('Which one?')]);
    writeFileSync(config, before);
  },
  step: (args) => call('workflow_step', args, 'mcp__workflow'),
  files: { '.codex/hooks.json': '', '.codex/config.toml': 'model  =  "gpt-5.5" # mine\n\n[features]\n' },
};
await play({ ...scenarios, ...shared(host, { root, sidecar, name: 'codex' }) }, root, { host: 'codex', program: codex, only });
await model.stop();
