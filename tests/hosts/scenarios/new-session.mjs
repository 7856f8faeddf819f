import assert from 'node:assert/strict';

import { BEYOND_COUNTDOWN_MS, demo } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { sleep } from '../pi.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'A new session in the middle of a run is independent of it: no context, no rules, no reminder.',
  differences: ['host-reload@0.74.2'],
  workflows: { demo },
  replies: [say('I stop here.'), call('write', { path: 'a.txt', content: 'free' }), call('workflow_step', { action: 'status' }), say('Nothing runs.')],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow demo the greeting');
    await pi.settled();
    await pi.command({ type: 'new_session' });
    await sleep(BEYOND_COUNTDOWN_MS);
    await pi.prompt('What runs?');
    await pi.settled();
  },
  expect({ recording, requests }) {
    assert.match(texts(recording, 'messages', /^result of write/)[0], /^result of write\n/);
    assert.match(texts(recording, 'messages', /^result of workflow_step/)[0], /No active workflow/);
    assert.equal(requests[1].messages.filter(({ role }) => role === 'user').length, 1);
  },
};
