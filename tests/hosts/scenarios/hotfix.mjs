import assert from 'node:assert/strict';

import { phase, workflow } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

const next = call('workflow_step', { action: 'next' });
const inputs = { version: { type: 'text', pattern: '^\\d+\\.\\d+$' }, hotfix: { type: 'flag', default: false } };

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'A flag at the start skips a phase; an input that is missing is asked for until it fits; inputs and outcomes are completed.',
  ours: true,
  wraps: true,
  workflows: {
    change: workflow(
      'Change',
      [phase('Fix', '🩹'), phase('Review', '🔍', { when: { 'inputs.hotfix': false } }), phase('Ship', '🚀', { outcomes: { out: 'done', again: 'fix' } })],
      { inputs, initialMessage: 'Fix {description} for {inputs.version}' },
    ),
  },
  replies: [next, say('Shipping.')],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/probe complete workflow change --h');
    pi.answer(null, 'one', '1.2');
    await pi.prompt('/workflow change the typo');
    await pi.prompt('/workflow change --hotfix the typo');
    await pi.settled();
    await pi.prompt('/probe complete workflow-next a');
    await pi.prompt('/cancel-workflow');
  },
  expect({ recording, requests }) {
    const asked = texts(recording, 'dialogs', /^input /);
    assert.equal(asked.length, 3);
    assert.match(asked[2], /Input `version` must match/);
    const notices = texts(recording, 'dialogs', /^notify /).join('\n');
    assert.match(notices, /Nothing was started\..*Usage: \/workflow change/s);
    assert.match(notices, /change --hotfix/);
    assert.match(notices, /"again"/);
    assert.match(JSON.stringify(requests[0]?.messages), /Fix the typo for 1\.2/);
    const [moved] = texts(recording, 'messages', /^result of workflow_step/);
    assert.match(moved ?? '', /Fix → 🚀 Ship/);
  },
};
