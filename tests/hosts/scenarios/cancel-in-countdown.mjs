import assert from 'node:assert/strict';

import { BEYOND_COUNTDOWN_MS, demo } from '../definitions.mjs';
import { say } from '../model.mjs';
import { sleep } from '../pi.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'Cancelling during the countdown stops it: the agent is not reminded of a cancelled workflow.',
  divergence: 'B11',
  workflows: { demo },
  replies: [say('I stop here.')],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow demo the greeting');
    await pi.settled();
    await pi.prompt('/cancel-workflow');
    if (stage.extension.reference) await pi.settled();
    else await sleep(BEYOND_COUNTDOWN_MS);
    await pi.quiet();
  },
  expect({ recording, requests, reference }) {
    assert.match(texts(recording, 'dialogs').join('\n'), /cancelled/);
    assert.equal(requests.length, reference ? 2 : 1);
  },
};
