import assert from 'node:assert/strict';

import { nested, ticks } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

const next = call('workflow_step', { action: 'next' });

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'A run enters and leaves nested workflows; status, context and progress are those of the innermost.',
  differences: ['B02', 'B03'],
  workflows: nested,
  ignores: ticks,
  replies: [
    next,
    say('In Draft.'),
    next,
    call('bash', { command: 'echo blocked in Cut' }),
    say('In Cut.'),
    next,
    call('workflow_step', { action: 'status' }),
    say('In Glue.'),
    next,
    say('In Polish.'),
    next,
    next,
    say('All done.'),
  ],
  async play(stage) {
    const pi = stage.start();
    for (const prompt of ['/workflow outer the film', 'Go on', 'Further', 'Further still', 'To the end']) {
      await pi.prompt(prompt);
      await pi.settled();
    }
  },
  expect({ recording }) {
    const shown = texts(recording, 'status').filter((line) => !/cleared/.test(line));
    assert.ok(shown.includes('workflow: Outer > Middle [2/3] > Deep [2/3] > 🔪 Cut [1/2]'), shown.join('\n'));
    assert.match(texts(recording, 'messages', /^result of bash/)[0], /\(error\)/);
  },
};
