import assert from 'node:assert/strict';

import { phase, workflow } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'An agent that stops in the middle sees a countdown of three seconds and is reminded, and then continues.',
  workflows: { short: workflow('Short', [phase('Only', '🔹')]) },
  replies: [say('I think I am done.'), call('workflow_step', { action: 'next' }), say('Now I am.')],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow short the thing');
    await pi.settled(2);
  },
  expect({ recording, reference, host }) {
    const [shown, second, first, cleared] = texts(recording, 'widget');
    assert.match(shown, /3s/);
    assert.match(second, /2s/);
    assert.match(first, /1s/);
    assert.match(cleared, /\(cleared\)$/);
    assert.match(texts(recording, 'messages', /^user$/)[1], /still (active|in).*Only|Continue with .*Only/s);
    // The package on 0.74.2 shows it only with the next prompt.
    const announced = reference && host === '0.74.2' ? 0 : 1;
    assert.equal(texts(recording, 'messages', /^workflow:complete/).length, announced);
  },
};
