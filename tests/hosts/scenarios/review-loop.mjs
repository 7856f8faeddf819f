import assert from 'node:assert/strict';

import { phase, workflow } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

const next = call('workflow_step', { action: 'next' });
const changes = call('workflow_step', { action: 'next', outcome: 'changes' });
const ok = call('workflow_step', { action: 'next', outcome: 'ok' });

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'A loop of review and repair ends at its bound; the owner of the run allows one more visit.',
  ours: true,
  workflows: { loop: workflow('Loop', [phase('Build', '🔨', { maxVisits: 2 }), phase('Review', '🔍', { outcomes: { ok: 'done', changes: 'build' } })]) },
  replies: [next, changes, next, changes, say('I wait.'), changes, next, ok, say('Done.')],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow loop the sum');
    await pi.settled();
    await pi.prompt('/workflow-resume');
    await pi.settled();
  },
  expect({ recording }) {
    const answers = texts(recording, 'messages', /^result of workflow_step/);
    assert.match(answers[3], /limit|paused/i);
    assert.match(answers[4], /Review → 🔨 Build/);
    assert.equal(answers.length, 7);
    const notices = texts(recording, 'dialogs', /^notify /).join('\n');
    assert.match(notices, /is paused: Build has been entered twice/);
  },
};
