import assert from 'node:assert/strict';

import { phase, workflow } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

const next = call('workflow_step', { action: 'next' });
const approve = { ask: 'Publish?', choices: { publish: 'next', revise: 'plan' }, comment: true };

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'An answer to an approval sends the run back, with the comment that the user gives in a second dialog.',
  ours: true,
  workflows: { ship: workflow('Ship', [phase('Plan', '📝'), phase('Release', '🚀', { approve })]) },
  replies: [next, next, say('Planning again.')],
  async play(stage) {
    const pi = stage.start();
    pi.answer('revise', 'Name the risks');
    await pi.prompt('/workflow ship the sum');
    await pi.until(({ type, method }) => type === 'extension_ui_request' && method === 'input', 'the question for a comment');
    await pi.settled();
    await pi.prompt('/cancel-workflow');
  },
  expect({ recording }) {
    const [, revised] = texts(recording, 'messages', /^result of workflow_step/);
    assert.match(revised, /Release → 📝 Plan/);
    assert.match(revised, /The user says: Name the risks/);
    assert.match(texts(recording, 'dialogs', /^input /).join(), /revise: your comment for the agent/);
  },
};
