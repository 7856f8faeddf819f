import assert from 'node:assert/strict';

import { demo, ticks } from '../definitions.mjs';
import { referencePackage } from '../hosts.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'A run that the package started continues here, in its phase and under its rules, and the reverse.',
  ours: true,
  workflows: { demo },
  ignores: ticks,
  replies: [
    call('workflow_step', { action: 'next' }),
    say('Building.'),
    call('bash', { command: 'echo no' }),
    call('workflow_step', { action: 'next' }),
    say('Checking.'),
    call('workflow_step', { action: 'next' }),
    say('Done.'),
  ],
  async play(stage) {
    const ours = stage.extension;
    const turns = [
      [referencePackage, '/workflow demo the greeting'],
      [ours.path, 'Go on'],
      [referencePackage, 'To the end'],
    ];
    for (const [path, prompt] of turns) {
      stage.extension = { ...ours, path };
      const pi = stage.start(['--mode', 'rpc', ...(stage.started.length > 0 ? ['--continue'] : [])]);
      await pi.prompt(prompt);
      await pi.settled();
      await stage.close();
    }
  },
  expect({ recording }) {
    assert.match(texts(recording, 'messages', /^result of bash/)[0], /\(error\).*Build/s);
    const steps = texts(recording, 'messages', /^result of workflow_step/);
    assert.match(steps[1], /Build → ✅ Check/);
    assert.match(steps[2], /Check → DONE/);
  },
};
