import assert from 'node:assert/strict';

import { demo } from '../definitions.mjs';
import { pause, say } from '../model.mjs';
import { sleep } from '../pi.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: '/workflow while the agent answers: ours starts the run when the agent has finished, with its first message.',
  divergence: 'host-busy',
  workflows: { demo },
  replies: [pause(say('Hello to you too.')), say('On the greeting.')],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('Hello');
    await pi.until(({ type }) => type === 'message_update', 'the first words');
    const started = pi.prompt('/workflow demo the greeting'); // ours answers it when it has started
    await pi.quiet();
    stage.model.release();
    await started;
    await pi.settled(stage.extension.reference ? 1 : 2);
    if (stage.extension.reference) await sleep(500);
  },
  expect({ recording, requests, reference }) {
    assert.equal(requests.length, reference ? 1 : 2);
    assert.equal(texts(recording, 'errors').length, reference ? 1 : 0);
  },
};
