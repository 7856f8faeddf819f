import assert from 'node:assert/strict';

import { BEYOND_COUNTDOWN_MS, demo } from '../definitions.mjs';
import { fail, say } from '../model.mjs';
import { sleep } from '../pi.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'A provider error is not an early stop: ours sends no reminder into the next failing request.',
  divergence: 'Auto-continue',
  workflows: { demo },
  replies: [fail(500, 'out of order'), fail(500, 'still out of order'), say('Back again.')],
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
