import assert from 'node:assert/strict';

import { demo } from '../definitions.mjs';
import { pause, say } from '../model.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'A workflow cancelled while the agent answers is announced once, also after a reload.',
  divergence: 'B01',
  workflows: { demo },
  replies: [pause(say('Here I am.')), say('Yes.'), say('Yes again.')],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow demo the greeting');
    await pi.until(({ type }) => type === 'message_update', 'the first words');
    await pi.prompt('/cancel-workflow');
    stage.model.release();
    await pi.until(({ type }) => type === 'agent_end', 'the end of the answer');
    await pi.quiet();
    await pi.prompt('/probe reload');
    await pi.prompt('Anything left?');
    await pi.settled();
    await pi.prompt('And now?');
    await pi.settled();
  },
  expect({ recording, reference }) {
    if (!reference) assert.equal(texts(recording, 'messages', /^workflow:complete/).length, 1);
  },
};
