/** What is asked of each host that starts hooks, beside the whole workflow of its own drill. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { includes, proves, saw } from './world.mjs';

export const FLOW = `
name: Flow
commandName: flow
initialMessage: "Do this: {description}"
phases:
  - { id: triage, name: Triage, emoji: T, instructions: Sort it., outcomes: { none: done, bug: check } }
  - { id: between, name: Between, emoji: B, instructions: Not entered. }
  - id: check
    name: Check
    emoji: C
    instructions: Check it.
    approve: { ask: Is it right?, choices: { yes: next, again: triage }, comment: true }
`;
export const TIGHT = `
name: Tight
commandName: tight
initialMessage: "Do this: {description}"
budget: { toolCalls: 2 }
phases: [{ id: work, name: Work, emoji: W, instructions: Work. }]
`;

/** A workflow in which the agent may start any program. */
export const OPEN = `
name: Open
commandName: open
initialMessage: "Do this: {description}"
phases:
  - { id: look, name: Look, emoji: L, instructions: Look., tools: { blacklist: [write] } }
  - { id: work, name: Work, emoji: W, instructions: Work. }
`;

/** What may be in the place of the sidecar when a hook starts it: a name, the capability that it is about, and its text. */
const BROKEN = [
  ['missing', 'missing program', undefined],
  ['killed', 'killed program', 'kill -9 $$'],
  ['failing', 'killed program', 'exit 1'],
  ['garbage', 'garbage program', 'echo hello'],
  ['half', 'garbage program', `printf '{"decision": "bl'`],
  // Only calls of tools wait, because a host waits half a minute.
  ['hung', 'hung program', 'event=$(cat); case $event in *PreToolUse*|*BeforeTool*) sleep 100;; *) printf %s "$event" | "$real" "$@";; esac'],
];

/**
 * @param {object} host
 * @param {(name: string, program?: string) => Promise<any>} host.world A home directory with our hooks; `prompt` goes on with its session.
 * @param {(world: any, name: string) => object} host.write A call that writes a file of the project.
 * @param {(args: object) => object} host.step A call of `workflow_step`.
 * @param {(command: string) => object} host.shell
 * @param {(text: string) => object} host.say
 * @param {boolean} [host.repeats] The host prints no answer to a command, so the model repeats it.
 * @param {(world: any, prompt: string, replies: object[]) => object[]} [host.subagent] The replies of an agent that starts a sub-agent, and of that.
 * @param {(prompt: string) => string} [host.nested] A shell line that starts the host.
 * @param {(world: any) => Promise<any>} [host.compact] Shortens the conversation.
 * @param {boolean} [host.hasDialogs] Its MCP client asks the user.
 * @param {boolean} [host.cutsResults] The host takes every change of a result.
 * @param {Record<string, string>} host.files The files with our hooks, in the home directory, with texts of a user.
 * @param {{ root: string, sidecar: string, name: string }} given
 */
export const shared = ({ world, write, step, shell, say, files, subagent, nested, hasDialogs = true, compact, cutsResults, repeats = false }, { root, sidecar, name }) => ({
  async 'reminders are bounded'() {
    proves('bounded reminder');
    const { prompt } = await world('bounded');
    const ran = await prompt('workflow bugfix it', Array.from({ length: 40 }, (_, turn) => say(`I stop for the ${turn}th time.`)));
    includes(ran.texts[1], /is still in /);
    assert.equal(ran.texts.length, 4, 'three reminders without a tool call in between');
  },

  async 'a session goes on under its rules, and a cancelled one is free'() {
    proves('question pauses', 'resume');
    const w = await world('resume');
    const asked = await w.prompt('workflow bugfix it', [shell('true'), say('Which one do you want?'), say('Is that so?')]);
    if (asked.texts.length > 2) saw('question pauses', 'no', 'The agent is reminded although it asks.');
    await w.prompt('the first', [write(w, 'a.txt'), say('Is that all?')]);
    assert.ok(!existsSync(w.file('a.txt')));
    const cancelled = await w.prompt('workflow cancel', repeats ? [say('As it says.')] : []);
    assert.equal(cancelled.texts.length, repeats ? 1 : 0);
    await w.prompt('go on', [write(w, 'b.txt'), say('ok')]);
    assert.ok(existsSync(w.file('b.txt')));
  },

  async 'an outcome decides where the run goes, and an answer sends it back with a comment'() {
    proves('outcome', 'rejection with comment');
    const w = await world('flow');
    w.workflow('flow', FLOW);
    const next = { action: 'next' };
    let ran = await w.prompt('workflow flow it', [step(next), step({ ...next, outcome: 'bug' }), step(next), say('I wait.')]);
    includes(ran.texts[1], /bug/);
    includes(ran.texts[2], /Triage → C Check/);
    includes(ran.texts[3], /Is it right\?/);
    ran = await w.prompt('workflow approve again name the cause', [say('Shall I?')]);
    includes(ran.texts[0], /name the cause/);
    includes(ran.texts[0], /Sort it\./);
  },

  ...(!hasDialogs && {
    async 'the MCP client has no dialogs'() {
      const w = await world('dialogs');
      const [said, watched] = [join(w.home, 'said'), join(w.home, 'watched')];
      writeFileSync(watched, `#!/bin/sh\n[ "$1" = mcp ] || exec '${sidecar}' "$@"\ntee '${said}' | '${sidecar}' "$@"\n`, { mode: 0o755 });
      for (const file of Object.keys(files)) {
        const path = join(w.home, file);
        writeFileSync(path, readFileSync(path, 'utf8').replaceAll(sidecar, watched));
      }
      await w.prompt('hello', [say('ok')]);
      const { capabilities } = JSON.parse(readFileSync(said, 'utf8').split('\n')[0]).params;
      assert.equal(capabilities.elicitation, undefined, JSON.stringify(capabilities));
      saw('approval in the host', 'no', 'Its MCP client has no dialogs.');
    },
  }),

  async 'a budget that is used up pauses the run'() {
    proves('budget');
    const w = await world('budget');
    w.workflow('tight', TIGHT);
    const ran = await w.prompt('workflow tight it', [shell('true'), shell('true'), say('I stop.'), say('Again.')]);
    const runs = await w.sidecar('runs', '--format', 'json');
    assert.equal(ran.texts.length, 3, `no reminder\n${runs.stdout}`);
  },

  async 'a secret in a result does not reach the model'() {
    proves('results replaced');
    const w = await world('result');
    writeFileSync(join(w.home, '.pi/agent/workflow-sidecar.json5'), JSON.stringify({ results: [{ redact: 'sk-[a-z]{8}' }] }));
    writeFileSync(w.file('key.txt'), 'first\nkey = sk-abcdefgh\nlast\n');
    const ran = await w.prompt('look', [shell('cat key.txt'), shell('cat key.txt; false'), say('ok')]);
    includes(ran.texts[1], /key = \[redacted\]/);
    assert.ok(!ran.texts[1].includes('abcdefgh'), ran.texts[1].slice(-600));
    if (ran.texts[2].includes('abcdefgh')) saw('results replaced', 'partly', 'What a failed command prints is not changed.');
  },

  async 'a program that is missing, killed, failing, silent or prints garbage'() {
    const program = join(root, `${name}-program`);
    const behave = (script) => {
      rmSync(program, { force: true });
      const text = `#!/bin/sh\nreal='${sidecar}'\n[ "$1" = hook ] || exec "$real" "$@"\n${script}\n`;
      if (script) writeFileSync(program, text, { mode: 0o755 });
    };
    const good = 'exec "$real" "$@"';
    behave(good);
    const w = await world('broken');
    for (const file of Object.keys(files)) {
      const path = join(w.home, file);
      writeFileSync(path, readFileSync(path, 'utf8').replaceAll(sidecar, program));
    }
    await w.prompt('workflow bugfix it', [shell('true'), say('Shall I?'), say('Shall I?'), say('Shall I?')]);
    for (const [kind, capability, script] of BROKEN) {
      behave(script);
      const ran = await w.prompt('go on', [write(w, `${kind}.txt`), say('Shall I?')]);
      if (existsSync(w.file(`${kind}.txt`))) saw(capability, 'no', 'The call runs.');
      else if (ran.texts.length < 2) saw(capability, 'partly', 'No prompt reaches the model.');
      else saw(capability, 'enforced');
    }
    behave(good);
    await w.prompt('workflow cancel', []);
    behave(undefined);
    await w.prompt('go on', [write(w, 'free.txt'), say('ok')]);
    if (!existsSync(w.file('free.txt'))) saw('missing program', 'partly', 'Without a run nothing works either.');
  },

  ...(subagent && {
    async 'a sub-agent works under the rules of its session, and cannot move the workflow'() {
      proves('sub-agent');
      const w = await world('subagent');
      const replies = subagent(w, 'SUBTASK', [write(w, 'sub.txt'), step({ action: 'next' }), say('Done.')]);
      const ran = await w.prompt('workflow bugfix it', [...replies, say('Shall I?')]);
      assert.ok(ran.texts.length >= 5, `${ran.texts.length} requests\n${ran.texts.at(-1)?.slice(-1500)}`);
      assert.ok(ran.texts.some((text) => /blocked/.test(text)) && !existsSync(w.file('sub.txt')));
      const status = (await w.sidecar('runs', '--format', 'json')).stdout;
      if (!ran.texts.some((text) => /Only the main agent/.test(text))) saw('sub-agent', 'partly', 'It can move the workflow.');
      else assert.match(status, /Analyze/);
    },
  }),

  ...(nested && {
    async 'a host that the agent starts works under the rules of its session'() {
      proves('nested agent');
      const w = await world('nested');
      w.workflow('open', OPEN);
      const started = nested('Write.');
      const ran = await w.prompt('workflow open it', [
        shell(nested('workflow skip')),
        shell(started),
        write(w, 'nested.txt'),
        step({ action: 'next' }),
        say('Done.'),
        shell(`cd '${w.home}' && ${started}`),
        write(w, 'elsewhere.txt'),
        say('Done.'),
        say('Shall I?'),
      ]);
      const runs = JSON.parse((await w.sidecar('runs', '--format', 'json')).stdout);
      assert.deepEqual(runs.map(({ phase }) => phase), ['Look']);
      assert.ok(!existsSync(w.file('nested.txt')));
      assert.ok(ran.texts.some((text) => /Only the main agent moves the workflow/.test(text)), ran.texts.at(-1)?.slice(-2500));
      if (existsSync(w.file('elsewhere.txt'))) saw('nested agent', 'partly', 'One that it starts in another directory has no rules.');
    },
  }),

  ...(compact && {
    async 'compaction keeps the instructions of the phase'() {
      proves('compaction');
      const w = await world('compaction');
      await w.prompt('workflow bugfix it', [shell('true'), say('Which one?')]);
      await compact(w);
      const ran = await w.prompt('where are we?', [say('Which one?')]);
      includes(ran.texts[0], /A summary/);
      if (!/Find the cause/.test(ran.texts[0])) saw('compaction', 'no', 'The model no longer has the instructions of the phase.');
    },
  }),

  ...(cutsResults && {
    async 'a result is cut, added to and withheld'() {
      proves('results replaced');
      const w = await world('results');
      const results = (rules) => writeFileSync(join(w.home, '.pi/agent/workflow-sidecar.json5'), JSON.stringify({ results: rules }));
      results([{ redact: 'sk-[a-z]{8}' }, { maxChars: 60 }, { append: 'Mind the key.' }]);
      writeFileSync(w.file('key.txt'), `sk-abcdefgh begins ${'middle '.repeat(100)}and ends\n`);
      let ran = await w.prompt('look', [shell('cat key.txt'), say('ok')]);
      includes(ran.texts[1], /\[redacted\] b[^]*Mind the key\./);
      assert.ok(!/abcdefgh|(middle ){20}/.test(ran.texts[1]), ran.texts[1].slice(-600));
      results([{ redact: 'sk-[' }]);
      ran = await w.prompt('look again', [shell('cat key.txt'), say('ok')]);
      assert.ok(!/abcdefgh|(middle ){20}/.test(ran.texts[1]), `withheld: ${ran.texts[1].slice(-600)}`);
      includes(ran.texts[1], /withheld/);
    },
  }),

  async 'uninstalled, the files are as they were'() {
    proves('uninstall byte for byte');
    const w = await world('uninstalled');
    assert.equal((await w.sidecar('uninstall', name)).code, 0);
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(w.home, file)), { recursive: true });
      if (text) writeFileSync(join(w.home, file), text);
    }
    assert.equal((await w.sidecar('install', name)).code, 0);
    assert.equal((await w.sidecar('uninstall', name)).code, 0);
    for (const [file, text] of Object.entries(files)) {
      const path = join(w.home, file);
      assert.equal(existsSync(path) ? readFileSync(path, 'utf8') : '', text, file);
    }
  },
});
