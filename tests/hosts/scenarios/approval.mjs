import assert from 'node:assert/strict';

import { BEYOND_COUNTDOWN_MS, phase, workflow } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { sleep } from '../pi.mjs';
import { texts } from '../recording.mjs';

const next = call('workflow_step', { action: 'next' });
const approve = { ask: 'Plan OK?', choices: ['approve', 'revise'], show: 'plan.md' };

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'A phase is left when the user approves: without an answer the run waits, with another answer it stays in the phase.',
  ours: true,
  workflows: { plan: workflow('Plan', [phase('Draft', '📝', { approve }), phase('Build', '🔨')]) },
  project: { 'plan.md': 'Add the numbers.\n' },
  replies: [next, say('I wait.'), next, next, say('Building.')],
  async play(stage) {
    const pi = stage.start();
    pi.answer(null, 'revise', 'approve');
    await pi.prompt('/workflow plan the sum');
    await pi.settled();
    await sleep(BEYOND_COUNTDOWN_MS);
    assert.equal(stage.model.requests.length, 2);
    await pi.prompt('Ask again');
    await pi.until(({ type, method }) => type === 'extension_ui_request' && method === 'select', 'the question');
    await pi.settled();
  },
  expect({ recording }) {
    const [dismissed, revised, approved] = texts(recording, 'messages', /^result of workflow_step/);
    assert.match(dismissed, /Waiting for approval: Plan OK\?/s);
    assert.match(revised, /chose "revise"/);
    assert.match(approved, /Draft → 🔨 Build/);
    const asked = texts(recording, 'dialogs', /^select /);
    assert.equal(asked.length, 3);
    assert.match(asked[0], /Plan OK\?.*Add the numbers\..*approve\nrevise/s);
  },
};
