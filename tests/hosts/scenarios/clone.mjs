import assert from 'node:assert/strict';

import { demo, ticks } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'A clone of the session continues in the same phase, under the same rules.',
  workflows: { demo },
  ignores: ticks,
  replies: [call('workflow_step', { action: 'next' }), say('Building.'), call('bash', { command: 'echo no' }), call('workflow_step', { action: 'next' }), say('Checking.')],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow demo the greeting');
    await pi.settled();
    await pi.command({ type: 'clone' });
    await pi.prompt('Go on');
    await pi.settled();
  },
  expect({ recording }) {
    assert.match(texts(recording, 'messages', /^result of bash/)[0], /\(error\).*Build/s);
    assert.match(texts(recording, 'messages', /^result of workflow_step/)[1], /Build → ✅ Check/);
  },
};
