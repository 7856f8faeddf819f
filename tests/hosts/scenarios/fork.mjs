import assert from 'node:assert/strict';

import { demo, ticks } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'A fork from an earlier message is in the phase of that time, and the old session stays in its own.',
  workflows: { demo },
  ignores: ticks,
  replies: [
    say('Exploring.'),
    call('workflow_step', { action: 'next' }),
    say('Building.'),
    call('workflow_step', { action: 'status' }),
    say('Exploring again.'),
    call('workflow_step', { action: 'status' }),
    say('Building still.'),
  ],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow demo the greeting');
    await pi.settled();
    await pi.prompt('Go on');
    await pi.settled();
    const { data: state } = await pi.command({ type: 'get_state' });
    const { data } = await pi.command({ type: 'get_fork_messages' });
    await pi.command({ type: 'fork', entryId: data.messages.find((/** @type {any} */ { text }) => text === 'Go on').entryId });
    await pi.prompt('Where are we?');
    await pi.settled();
    await pi.command({ type: 'switch_session', sessionPath: state.sessionFile });
    await pi.prompt('And here?');
    await pi.settled();
  },
  expect({ recording }) {
    const [, forked, kept] = texts(recording, 'messages', /^result of workflow_step/);
    assert.match(forked, /Explore \[1\/3\]/);
    assert.match(kept, /Build \[2\/3\]/);
  },
};
