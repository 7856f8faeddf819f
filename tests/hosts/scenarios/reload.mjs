import assert from 'node:assert/strict';

import { BEYOND_COUNTDOWN_MS, demo } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { sleep } from '../pi.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'After a reload in the middle of a run its phase and rules apply, and an old countdown is stopped.',
  differences: ['host-reload@1.5.2'],
  divergence: 'host-reload@0.74.2',
  workflows: { demo },
  replies: [call('workflow_step', { action: 'next' }), say('I stop here.'), call('bash', { command: 'echo no' }), call('workflow_step', { action: 'next' }), say('On.')],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow demo the greeting');
    await pi.settled();
    await pi.prompt('/probe reload');
    if (stage.extension.reference) await pi.until(({ method, widgetLines }) => method === 'setWidget' && !widgetLines, 'the end of the old countdown');
    else await sleep(BEYOND_COUNTDOWN_MS);
    if (stage.extension.reference && !stage.host.settles) await pi.settled(); // the old timer still sends on 0.74.2
    await pi.quiet();
    await pi.prompt('Go on');
    await pi.settled();
  },
  expect({ recording, reference }) {
    assert.match(texts(recording, 'messages', /^result of bash/)[0], /\(error\).*Build/s);
    assert.match(texts(recording, 'messages', /^result of workflow_step/)[1], /Build → ✅ Check/);
    if (!reference) assert.equal(texts(recording, 'messages', /^user$/).length, 2);
  },
};
