import assert from 'node:assert/strict';

import { demo, ticks } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

const cancel = call('workflow_step', { action: 'cancel' });

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'The agent cancels with two calls in a row; ours forgets the first after any other call.',
  divergence: 'A03',
  workflows: { demo },
  ignores: ticks,
  replies: [cancel, call('workflow_step', { action: 'next' }), cancel, cancel, say('Stopped.'), say('Yes.')],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow demo the greeting');
    await pi.settled();
    await pi.prompt('Really?');
    await pi.settled();
  },
  expect({ recording, reference }) {
    const [first, , third, fourth] = texts(recording, 'messages', /^result of workflow_step/);
    assert.match(first, /Confirm/);
    assert.match(third, reference ? /cancelled/ : /Confirm/);
    if (!reference) assert.match(fourth, /cancelled/);
    assert.equal(texts(recording, 'messages', /^workflow:complete/).length, 1);
  },
};
