import assert from 'node:assert/strict';

import { demo } from '../definitions.mjs';
import { call, say, together } from '../model.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'next and a call that only the new phase allows, in one message: ours decides the second call in the new phase.',
  divergence: 'host-sequential',
  workflows: { demo },
  project: { 'a.txt': 'old\n' },
  replies: [
    together(call('workflow_step', { action: 'next' }), call('edit', { path: 'a.txt', edits: [{ oldText: 'old', newText: 'new' }] })),
    together(call('bash', { command: 'echo no' }), call('workflow_step', { action: 'next' }), call('bash', { command: 'cat a.txt' })),
    say('Done.'),
  ],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow demo the greeting');
    await pi.settled();
  },
  expect({ recording, reference }) {
    const [edit] = texts(recording, 'messages', /^result of edit/);
    assert.equal(/\(error\)/.test(edit), reference);
    const [early, late] = texts(recording, 'messages', /^result of bash/);
    assert.match(early, /\(error\)/);
    assert.equal(/\(error\)/.test(late), reference);
  },
};
