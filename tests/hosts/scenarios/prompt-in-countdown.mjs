import assert from 'node:assert/strict';

import { BEYOND_COUNTDOWN_MS, demo } from '../definitions.mjs';
import { pause, say } from '../model.mjs';
import { sleep } from '../pi.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'A prompt during the countdown stops it: the reminder does not come while the agent answers.',
  divergence: 'B13',
  workflows: { demo },
  replies: [say('I stop here.'), pause(say('It is a greeting.'))],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow demo the greeting');
    await pi.settled();
    await pi.prompt('What is it?');
    if (stage.extension.reference) await pi.until(({ type }) => type === 'extension_error', 'the refused reminder');
    else await sleep(BEYOND_COUNTDOWN_MS);
    stage.model.release();
    await pi.settled();
  },
  expect({ recording, reference }) {
    const reminders = texts(recording, 'errors', /send_user_message/);
    assert.equal(reminders.length, reference ? 1 : 0);
  },
};
