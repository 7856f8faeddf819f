import assert from 'node:assert/strict';

import { demo } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'A run goes through its phases in one answer of the agent, and its end is announced once.',
  differences: ['host-moved@0.74.2'],
  workflows: { demo },
  project: { 'a.txt': 'old\n' },
  replies: [
    call('read', { path: 'a.txt' }),
    call('workflow_step', { action: 'next', summary: 'looked' }),
    call('edit', { path: 'a.txt', edits: [{ oldText: 'old', newText: 'new' }] }),
    call('workflow_step', { action: 'status' }),
    call('workflow_step', { action: 'next' }),
    call('workflow_step', { action: 'next' }),
    say('All done.'),
    say('You are welcome.'),
  ],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow demo the greeting');
    await pi.settled();
    await pi.prompt('Thanks');
    await pi.settled();
  },
  expect({ recording, requests }) {
    assert.equal(texts(recording, 'messages', /^workflow:complete/).length, 1);
    assert.equal(texts(recording, 'messages', /\(error\)$/).length, 0);
    assert.equal(requests.length, 8);
  },
};
