import assert from 'node:assert/strict';

import { demo } from '../definitions.mjs';
import { say } from '../model.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: '/workflow in print mode: pi neither hangs nor fails.',
  workflows: { demo },
  ignores: ({ stream }) => stream !== 'process', // how far the run gets before pi ends is a race in the host
  replies: [say('Exploring.')],
  async play(stage) {
    const printing = stage.start(['--print', '/workflow demo the greeting']);
    await printing.end();
    stage.recorder.add('process', `pi --print ended: ${printing.ended?.signal ?? printing.ended?.code}`);
  },
  expect({ recording }) {
    assert.deepEqual(texts(recording, 'process'), ['pi --print ended: 0']);
  },
};
