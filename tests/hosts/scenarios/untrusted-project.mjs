import assert from 'node:assert/strict';

import { demo, phase, workflow } from '../definitions.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'Workflows of a project that the user does not trust are not offered, where the host knows of trust.',
  differences: ['host-trust@1.5.2'],
  workflows: { demo },
  // The host asks for trust only where there is something it would load itself, such as settings.
  project: { '.pi': { 'settings.json': '{}', workflows: { foreign: workflow('Foreign', [phase('Trap', '🪤')]) } } },
  replies: [],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow');
  },
  expect({ recording, reference, host }) {
    const offered = /foreign/.test(texts(recording, 'dialogs')[0]);
    assert.equal(offered, reference || host === '0.74.2');
  },
};
