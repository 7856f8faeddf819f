import assert from 'node:assert/strict';

import { demo } from '../definitions.mjs';
import { call, fail, say } from '../model.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'A provider error that the host retries is neither an early stop nor an end.',
  differences: ['Auto-continue'],
  workflows: { demo },
  settings: { retry: { enabled: true, maxRetries: 2, baseDelayMs: 100, provider: { maxRetries: 0 } } },
  replies: [fail(503, 'overloaded'), call('workflow_step', { action: 'next' }), say('Here I am.')],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow demo the greeting');
    await pi.until(({ type, message }) => type === 'message_end' && /Here I am/.test(JSON.stringify(message)), 'the answer after the retry');
    await pi.quiet();
  },
  expect({ recording, requests, reference }) {
    assert.equal(requests.length, 3);
    if (!reference) assert.equal(texts(recording, 'widget').filter((line) => /3s/.test(line)).length, 1);
  },
};
