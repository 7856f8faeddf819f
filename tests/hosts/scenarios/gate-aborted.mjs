import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { phase, workflow } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { sleep } from '../pi.mjs';
import { texts } from '../recording.mjs';

const gate = [{ run: 'echo $$ > pid; sleep 300', shell: true }];

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'When the user aborts while a gate runs, its processes are killed, and the phase is not left.',
  ours: true,
  workflows: { build: workflow('Build', [phase('Work', '🔨', { gate }), phase('Check', '✅')]) },
  ignores: ({ stream }) => stream === 'widget',
  replies: [call('workflow_step', { action: 'next' }), call('workflow_step', { action: 'status' }), say('Still there.')],
  async play(stage) {
    const pi = stage.start();
    const noted = join(stage.sandbox.cwd, 'pid');
    await pi.prompt('/workflow build the sum');
    while (!existsSync(noted) || readFileSync(noted, 'utf8') === '') await sleep(20);
    await pi.command({ type: 'abort' });
    await pi.quiet();
    const pid = Number(readFileSync(noted, 'utf8'));
    const deadline = Date.now() + 5_000;
    while (existsSync(`/proc/${pid}`) && Date.now() < deadline) await sleep(20);
    assert.ok(!existsSync(`/proc/${pid}`), 'the process of the gate still runs');
    await pi.prompt('Where are we?');
    await pi.settled();
  },
  expect({ recording }) {
    const results = texts(recording, 'messages', /^result of workflow_step/);
    assert.match(results.at(-1) ?? '', /Work/);
    assert.doesNotMatch(results.join('\n'), /Advanced/);
    assert.deepEqual(texts(recording, 'errors'), []);
  },
};
