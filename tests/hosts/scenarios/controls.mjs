import assert from 'node:assert/strict';

import { BEYOND_COUNTDOWN_MS, phase, workflow } from '../definitions.mjs';
import { say } from '../model.mjs';
import { sleep } from '../pi.mjs';
import { texts } from '../recording.mjs';

const gate = [{ run: ['false'] }];

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'The owner of a run pauses and resumes it, goes past a gate after a confirmation, and finishes it.',
  ours: true,
  workflows: { work: workflow('Work', [phase('Red', '🔴', { gate }), phase('Green', '🟢'), phase('Clean', '🧹')]) },
  replies: [say('Working.'), say('Resumed.'), say('In green.'), say('In red again.')],
  async play(stage) {
    const pi = stage.start();
    pi.answer('No, stay in Red', 'Yes, go to Green without them');
    await pi.prompt('/workflow work the sum');
    await pi.prompt('/workflow-pause');
    await pi.settled();
    await sleep(BEYOND_COUNTDOWN_MS);
    assert.equal(stage.model.requests.length, 1, 'no reminder is sent');
    await pi.prompt('/workflow-status');
    await pi.prompt('/workflow-next now');
    await pi.prompt('/workflow-goto nowhere');
    await pi.prompt('/workflow-resume');
    await pi.settled();
    await pi.prompt('/workflow-pause');
    await pi.prompt('/workflow-next');
    await pi.prompt('/workflow-next');
    await pi.settled();
    await pi.prompt('/workflow-goto red');
    await pi.settled();
    await pi.prompt('/cancel-workflow');
  },
  expect({ recording }) {
    const notices = texts(recording, 'dialogs', /^notify /).join('\n');
    assert.match(notices, /is paused: the agent gets no reminders/);
    assert.match(notices, /To leave: `false` must pass/);
    assert.match(notices, /takes no argument, so "now"/);
    assert.match(notices, /There is no phase "nowhere" in Work/);
    assert.match(notices, /is resumed/);
    assert.match(notices, /was not moved/);
    assert.match(notices, /Red → 🟢 Green, by you\. Skipped: Red: gate `false`/);
    const asked = texts(recording, 'dialogs', /^select /);
    assert.match(asked[0], /Leave Red although its gate did not pass\?.*✗ false/s);
  },
};
