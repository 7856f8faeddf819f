import assert from 'node:assert/strict';

import { demo, phase, ticks, workflow } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'A guard with a wrong type or a misspelled name: ours refuses to start the workflow, with the reason.',
  divergence: 'Strict keys',
  workflows: {
    demo,
    mistyped: workflow('Mistyped', [phase('Open', '🚪', { tools: { whitlist: ['read'] } })]),
    wrong: workflow('Wrong', [phase('Open', '🚪', { tools: { blacklist: 'bash' } })]),
  },
  ignores: ticks,
  replies: [call('bash', { command: 'echo let through' }), say('Through.')],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow wrong the guard');
    await pi.quiet();
    if (stage.extension.reference) await pi.settled();
    await pi.prompt('/workflow');
  },
  expect({ recording, requests, reference }) {
    assert.equal(requests.length, reference ? 2 : 0);
    if (!reference) assert.match(texts(recording, 'dialogs').join('\n'), /blacklist/);
  },
};
