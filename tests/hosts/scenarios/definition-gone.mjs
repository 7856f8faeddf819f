import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { demo, ticks } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'When the files of a running workflow are missing, ours continues with the stored definition, and reports it.',
  divergence: 'Definition gone',
  workflows: { demo },
  ignores: ticks,
  replies: [say('Exploring.'), call('write', { path: 'a.txt', content: 'x' }), call('workflow_step', { action: 'status' }), call('workflow_step', { action: 'next' }), say('On.')],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow demo the greeting');
    await pi.settled();
    rmSync(join(stage.sandbox.agent, 'workflows/demo'), { recursive: true });
    await pi.prompt('/probe reload');
    await pi.prompt('Go on');
    await pi.settled();
  },
  expect({ recording, reference }) {
    const [write] = texts(recording, 'messages', /^result of write/);
    assert.equal(/\(error\)/.test(write), !reference);
    if (!reference) assert.match(texts(recording, 'dialogs').join('\n'), /demo/i);
  },
};
