import assert from 'node:assert/strict';

import { phase, workflow } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

const stubborn = call('bash', { command: 'echo x > a.txt' });
const rules = [{ block: 'bash', writes: true, reason: 'looking changes no files' }];

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'A call that is blocked for the third time in a row causes a question; after that the agent must stop trying.',
  ours: true,
  workflows: { look: workflow('Look', [phase('Read', '🔭', { tools: { rules } })]) },
  replies: [stubborn, stubborn, stubborn, stubborn, call('bash', { command: 'cat a.txt 2>&1; ls' }), call('workflow_step', { action: 'next' }), say('Done.')],
  async play(stage) {
    const pi = stage.start();
    pi.answer('No, keep it blocked');
    await pi.prompt('/workflow look around');
    await pi.settled();
  },
  expect({ recording }) {
    const results = texts(recording, 'messages', /^result of bash/);
    for (const result of results.slice(0, 4)) assert.match(result, /\(error\)\n.*looking changes no files/s);
    assert.doesNotMatch(results[1], /asked|Stop trying/);
    assert.match(results[2], /asked and did not allow/);
    assert.match(results[3], /Stop trying/);
    assert.match(results[4], /^result of bash\n.*No such file/s);
    const asked = texts(recording, 'dialogs', /^select /);
    assert.equal(asked.length, 1);
    assert.match(asked[0], /three times in a row/);
  },
};
