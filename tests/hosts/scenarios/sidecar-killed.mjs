import assert from 'node:assert/strict';

import { demo, ticks } from '../definitions.mjs';
import { call, pause, say } from '../model.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'A sidecar killed while it decides a tool call is replaced; the call is decided by its rules, and the run continues.',
  ours: true,
  needsBinary: true,
  workflows: { demo },
  ignores: ticks,
  replies: [
    pause(call('write', { path: 'a.txt', content: 'must not be' })),
    call('bash', { command: 'ls' }),
    call('workflow_step', { action: 'next' }),
    call('write', { path: 'a.txt', content: 'now' }),
    say('Building.'),
  ],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow demo the greeting');
    await stage.model.pausedReply();
    stage.sidecars.signal('SIGSTOP');
    stage.model.release();
    await pi.until(({ type }) => type === 'tool_execution_start', 'the tool call');
    stage.sidecars.signal('SIGKILL');
    await pi.settled(1, 30_000);
    assert.equal(stage.sidecars.alive.length, 1);
    await stage.close();
    assert.ok(await stage.sidecars.gone(2_000), 'a sidecar outlived pi');
  },
  expect({ recording }) {
    const [early, late] = texts(recording, 'messages', /^result of write/);
    assert.match(early, /\(error\)/);
    assert.match(late, /^result of write\n/);
    assert.equal(texts(recording, 'messages', /^result of bash/)[0], 'result of bash\n(no output)');
  },
};
