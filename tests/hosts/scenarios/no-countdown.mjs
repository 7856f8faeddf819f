import assert from 'node:assert/strict';

import { phase, workflow } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'Without a countdown the agent is reminded as soon as it has stopped, and continues.',
  ours: true,
  workflows: { eager: workflow('Eager', [phase('Work', '🔨')], { continue: { countdown: 0 } }) },
  replies: [say('I stop.'), call('workflow_step', { action: 'next' }), say('Done.')],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow eager the thing');
    await pi.until(({ type, message }) => type === 'message_end' && /Eager Complete/.test(JSON.stringify(message)), 'the end of the run');
    await pi.quiet();
  },
  expect({ recording, requests }) {
    assert.equal(requests.length, 3);
    assert.match(texts(recording, 'messages', /^user$/)[1], /is still in/);
    assert.deepEqual(texts(recording, 'errors'), []);
  },
};
