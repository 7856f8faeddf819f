import assert from 'node:assert/strict';

import { nested } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

const next = call('workflow_step', { action: 'next' });

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'A person goes out of a subworkflow, but not into one, and reads which phases there are; a start needs a known name.',
  ours: true,
  workflows: nested,
  replies: [next, say('In Draft.'), say('In Polish.'), say('In Outro.')],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow nothing');
    await pi.prompt('/workflow outer the film');
    await pi.settled();
    await pi.prompt('/workflow-pause');
    await pi.prompt('/workflow-goto polish');
    await pi.settled();
    await pi.prompt('/workflow-goto outro');
    await pi.settled();
    await pi.prompt('/workflow-goto draft');
    await pi.prompt('/cancel-workflow');
  },
  expect({ recording }) {
    const notices = texts(recording, 'dialogs', /^notify /).join('\n');
    assert.match(notices, /Unknown workflow: "nothing"\. Available: outer/);
    assert.match(notices, /Draft → 🧽 Polish, by you\./);
    assert.match(notices, /Polish → .* Outro, by you\./);
    assert.match(notices, /There is no phase "draft" in Outer\. It is a phase of Middle; \/workflow-goto moves inside of Outer and the workflows around it only\./);
    assert.match(notices, /Phases of Outer:\s+.*outro — Outro \(now\)/s);
  },
};
