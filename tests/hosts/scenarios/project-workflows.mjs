import assert from 'node:assert/strict';

import { demo, phase, workflow } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'A workflow of the project is found beside the user\'s own, and replaces one of the same name.',
  differences: ['host-moved@0.74.2'],
  workflows: { demo, other: workflow('Other', [phase('There', '📍')]) },
  project: { '.pi': { workflows: { demo: workflow('Demo', [phase('Here', '🏠')]) } } },
  replies: [call('workflow_step', { action: 'next' }), say('Done.'), say('Yes.')],
  async play(stage) {
    const pi = stage.start(['--mode', 'rpc', ...stage.host.approve]);
    await pi.prompt('/workflow');
    await pi.prompt('/workflow demo the greeting');
    await pi.settled();
    await pi.prompt('Really?');
    await pi.settled();
  },
  expect({ recording }) {
    assert.match(texts(recording, 'messages', /^result of workflow_step/)[0], /Here → DONE/);
  },
};
