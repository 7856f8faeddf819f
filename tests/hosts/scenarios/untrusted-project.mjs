import assert from 'node:assert/strict';

import { demo, phase, workflow } from '../definitions.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'Workflows of an untrusted project are not offered, if the host reports trust.',
  differences: ['host-trust@1.5.2'],
  workflows: { demo },
  // The host asks for trust only if there are files that it would load itself, such as settings.
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
