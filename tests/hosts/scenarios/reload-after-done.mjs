import assert from 'node:assert/strict';

import { phase, workflow } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'After the end, reloading the extension does not announce it again.',
  divergence: 'A01',
  workflows: { short: workflow('Short', [phase('Only', '🔹')]) },
  replies: [call('workflow_step', { action: 'next' }), say('Done.'), say('First.'), say('Second.'), call('workflow_step', { action: 'status' }), say('Third.')],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow short the thing');
    await pi.settled();
    for (const prompt of ['One', 'Two', 'Three']) {
      await pi.prompt('/probe reload');
      await pi.prompt(prompt);
      await pi.settled();
    }
  },
  expect({ recording, reference }) {
    if (!reference) assert.equal(texts(recording, 'messages', /^workflow:complete/).length, 1);
  },
};
