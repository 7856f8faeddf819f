import assert from 'node:assert/strict';

import { demo, ticks } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'A run continues in another process, after an orderly end and after a kill.',
  workflows: { demo },
  ignores: ticks,
  differences: ['Hidden characters'],
  replies: [
    call('workflow_step', { action: 'next' }),
    say('Building.'),
    call('bash', { command: 'echo no' }),
    say('Still building.'),
    call('workflow_step', { action: 'next' }),
    call('workflow_step', { action: 'next' }),
    say('Done.'),
  ],
  async play(stage) {
    const first = stage.start();
    await first.prompt('/workflow demo the greeting\u2028in two lines 🎉');
    await first.settled();
    await stage.close();
    const second = stage.start(['--mode', 'rpc', '--continue']);
    await second.prompt('Go on');
    await second.settled();
    await second.kill('SIGKILL');
    const third = stage.start(['--mode', 'rpc', '--continue']);
    await third.prompt('To the end');
    await third.settled();
  },
  expect({ recording }) {
    assert.match(texts(recording, 'messages', /^result of bash/)[0], /\(error\).*Build/s);
    assert.match(texts(recording, 'messages', /^result of workflow_step/)[2], /Check → DONE/);
  },
};
