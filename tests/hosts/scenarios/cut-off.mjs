import assert from 'node:assert/strict';

import { BEYOND_COUNTDOWN_MS, demo } from '../definitions.mjs';
import { cutOff, say } from '../model.mjs';
import { sleep } from '../pi.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'An answer cut off by the token limit is not an early stop: ours sends no reminder.',
  divergence: 'Auto-continue',
  workflows: { demo },
  replies: [cutOff('I was going to say'), say('Where was I?')],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow demo the greeting');
    await pi.settled(stage.extension.reference ? 2 : 1);
    if (!stage.extension.reference) await sleep(BEYOND_COUNTDOWN_MS);
    await pi.quiet();
  },
  expect({ requests, reference }) {
    assert.equal(requests.length, reference ? 2 : 1);
  },
};
