import assert from 'node:assert/strict';

import { demo } from '../definitions.mjs';
import { call, say, together } from '../model.mjs';
import { texts } from '../recording.mjs';

const next = call('workflow_step', { action: 'next' });

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'Two next in one message: ours refuses the second, which would skip a phase.',
  divergence: 'host-sequential',
  workflows: { demo },
  replies: [together(next, next), call('workflow_step', { action: 'status' }), next, say('Done.')],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow demo the greeting');
    await pi.settled();
  },
  expect({ recording, reference }) {
    const [, second, status] = texts(recording, 'messages', /^result of workflow_step/);
    assert.match(status, reference ? /Check \[3\/3\]/ : /Build \[2\/3\]/);
    if (!reference) assert.doesNotMatch(second, /Advanced/);
  },
};
