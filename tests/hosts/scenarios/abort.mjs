import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { demo } from '../definitions.mjs';
import { call, pause, say } from '../model.mjs';
import { sleep } from '../pi.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'After the user aborts, in an answer or in a tool, no countdown starts; the next prompt continues in the phase.',
  workflows: { demo },
  replies: [pause(say('I will talk for long.')), call('bash', { command: 'touch started; sleep 20' }), call('workflow_step', { action: 'next' }), say('On we go.')],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow demo the greeting');
    await pi.until(({ type }) => type === 'message_update', 'the first words');
    await pi.command({ type: 'abort' });
    stage.model.release();
    await pi.quiet();
    await pi.prompt('Try a tool');
    while (!existsSync(join(stage.sandbox.cwd, 'started'))) await sleep(20);
    await pi.command({ type: 'abort' });
    await pi.quiet();
    assert.deepEqual(texts(stage.recorder, 'widget', /^workflow-countdown/), []);
    await pi.prompt('Go on');
    await pi.settled();
  },
  expect({ recording }) {
    assert.equal(texts(recording, 'messages', /^ended by aborted/).length >= 1, true);
    assert.match(texts(recording, 'messages', /^result of workflow_step/)[0], /Explore → 🔨 Build/);
  },
};
