import assert from 'node:assert/strict';

import { phase, ticks, workflow } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

const next = call('workflow_step', { action: 'next' });
const loop = call('workflow_step', { action: 'loop' });

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'loop goes back to the first phase of the scope, also where that is a subworkflow; a workflow may forbid it.',
  divergence: 'B07',
  workflows: {
    rounds: workflow('Rounds', ['once', phase('Rest', '🛌')]),
    once: workflow('Once', [phase('Run', '🏃'), phase('Breathe', '💨')], { show: 'workflows', loopable: false }),
  },
  ignores: ticks,
  replies: [loop, next, next, loop, call('workflow_step', { action: 'status' }), say('Looped.'), next, say('And on.')],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow rounds the track');
    await pi.settled();
    await pi.prompt('Go on');
    await pi.settled();
  },
  expect({ recording }) {
    const results = texts(recording, 'messages', /^result of workflow_step/);
    assert.match(results[0], /⚠️/);
    assert.match(results[3], /Looped '\w+' back to: 🏃 Run/);
  },
};
