import assert from 'node:assert/strict';

import { demo, ticks } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'A move back in the session\'s tree restores the phase of that time: its status, its rules.',
  workflows: { demo },
  ignores: ticks,
  replies: [
    say('Exploring.'),
    call('workflow_step', { action: 'next' }),
    say('Building.'),
    call('write', { path: 'a.txt', content: 'too early again' }),
    call('workflow_step', { action: 'status' }),
    say('Exploring again.'),
  ],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow demo the greeting');
    await pi.settled();
    await pi.prompt('Go on');
    await pi.settled();
    await pi.prompt('/probe tree 1');
    await pi.quiet();
    await pi.prompt('Where are we?');
    await pi.settled();
  },
  expect({ recording }) {
    assert.match(texts(recording, 'messages', /^result of write/)[0], /\(error\).*Explore/s);
    assert.match(texts(recording, 'messages', /^result of workflow_step/)[1], /Explore \[1\/3\]/);
  },
};
