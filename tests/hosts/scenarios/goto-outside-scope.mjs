import assert from 'node:assert/strict';

import { nested } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

const next = call('workflow_step', { action: 'next' });

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'A person cannot go to a phase outside of the subworkflow, and reads which phases there are; a start needs a known name.',
  ours: true,
  workflows: nested,
  replies: [next, say('In Draft.'), say('In Polish.')],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow nothing');
    await pi.prompt('/workflow outer the film');
    await pi.settled();
    await pi.prompt('/workflow-pause');
    await pi.prompt('/workflow-goto outro');
    await pi.prompt('/workflow-goto polish');
    await pi.settled();
    await pi.prompt('/cancel-workflow');
  },
  expect({ recording }) {
    const notices = texts(recording, 'dialogs', /^notify /).join('\n');
    assert.match(notices, /Unknown workflow: "nothing"\. Available: outer/);
    assert.match(notices, /There is no phase "outro" in Middle\. It is a phase of Outer; \/workflow-goto moves inside of Middle only\./);
    assert.match(notices, /Phases of Middle:\s+draft — Draft \(now\)\s+deep — Deep\s+polish — Polish/);
    assert.match(notices, /Draft → 🧽 Polish, by you\./);
  },
};
