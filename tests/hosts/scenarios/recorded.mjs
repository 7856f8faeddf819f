import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { demo } from '../definitions.mjs';
import { call, say } from '../model.mjs';

const kept = fileURLToPath(new URL('../.recordings/', import.meta.url));

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: "A session that a flag of pi's command line records replays without a difference: blocks, the step tool, a countdown and its reminder.",
  ours: true,
  needsBinary: true,
  project: { '.pi': { workflows: { demo } } },
  replies: [
    call('write', { path: 'a.txt', content: 'too early' }),
    say('I think I am done.'),
    call('workflow_step', { action: 'next' }),
    call('write', { path: 'a.txt', content: 'now' }),
    call('workflow_step', { action: 'next' }),
    call('workflow_step', { action: 'next' }),
    say('Now I am.'),
  ],
  async play(stage) {
    const file = join(stage.sandbox.root, 'session.jsonl');
    const pi = stage.start(['--mode', 'rpc', '--workflow-record', file]);
    await pi.prompt('/workflow demo the greeting');
    await pi.settled(2);
    await stage.close();
    const recording = readFileSync(file, 'utf8');
    assert.match(recording, /is blocked during the Explore phase/);
    assert.match(recording, /Auto-continuing in 1s/);
    assert.match(recording, /is still in /);
    assert.match(recording, /All phases complete|Workflow Complete/);
    stage.sidecars.replay(file);

    // The copy without the paths of this machine replays anywhere; tests/transcripts has one of each host.
    const { root, home, agent, cwd, sessions } = stage.sandbox;
    const names = [[agent, '/home/me/.pi/agent'], [sessions, '/home/me/.pi/agent/sessions'], [cwd, '/home/me/project'], [home, '/home/me']];
    const anywhere = names.reduce((text, [path, name]) => text.replaceAll(path, name), recording);
    assert.ok(!anywhere.includes(root));
    const copy = join(kept, `recorded-by-pi-${stage.host.version}.jsonl`);
    mkdirSync(kept, { recursive: true });
    writeFileSync(copy, anywhere);
    stage.sidecars.replay(copy);
  },
};
