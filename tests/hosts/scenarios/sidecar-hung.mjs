import assert from 'node:assert/strict';

import { demo, ticks } from '../definitions.mjs';
import { call, pause, say } from '../model.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'A sidecar that hangs blocks the tool call at the deadline, is replaced, and does not delay the exit of pi.',
  ours: true,
  needsBinary: true,
  workflows: { demo },
  ignores: ticks,
  replies: [pause(call('write', { path: 'a.txt', content: 'must not be' })), call('workflow_step', { action: 'next' }), say('Building.')],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow demo the greeting');
    await stage.model.pausedReply();
    stage.sidecars.signal('SIGSTOP');
    stage.model.release();
    await pi.settled(1, 60_000);
    await stage.close();
    assert.ok(await stage.sidecars.gone(2_000), 'a sidecar outlived pi');
  },
  expect({ recording }) {
    assert.match(texts(recording, 'messages', /^result of write/)[0], /\(error\)/);
    assert.match(texts(recording, 'messages', /^result of workflow_step/)[0], /Explore → 🔨 Build/);
  },
};
