import assert from 'node:assert/strict';

import { phase, workflow } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

const next = call('workflow_step', { action: 'next' });
const status = call('workflow_step', { action: 'status' });

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'A run pauses when its budget is used up, and goes on when its owner allows more.',
  ours: true,
  workflows: { small: workflow('Small', [phase('Work', '🔨')], { budget: { turns: 2 } }) },
  replies: [status, status, next, say('I wait.'), next, say('Done.')],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow small the sum');
    await pi.settled();
    await pi.prompt('/workflow-resume +5 turns');
    await pi.settled();
  },
  expect({ recording }) {
    const answers = texts(recording, 'messages', /^result of workflow_step/);
    assert.match(answers[2], /budget|used up/i);
    assert.match(answers[3], /DONE|complete/);
    assert.match(texts(recording, 'dialogs', /^notify /).join('\n'), /\/workflow-resume \+/);
  },
};
