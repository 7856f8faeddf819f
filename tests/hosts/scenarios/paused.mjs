import assert from 'node:assert/strict';

import { phase, workflow } from '../definitions.mjs';
import { say } from '../model.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'An agent that stops again and again without a tool call is reminded a bounded number of times, then the run is paused with a message.',
  ours: true,
  workflows: { short: workflow('Short', [phase('Only', '🔹')], { continue: { maxStale: 2, countdown: 1 } }) },
  replies: [say('Done.'), say('Really.'), say('I mean it.'), say('Yes?')],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow short the thing');
    await pi.settled(3);
    await pi.quiet();
  },
  expect({ recording, requests }) {
    assert.equal(requests.length, 3);
    assert.equal(texts(recording, 'messages', /^user$/).length, 3);
  },
};
