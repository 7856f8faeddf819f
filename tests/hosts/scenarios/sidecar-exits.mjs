import assert from 'node:assert/strict';

import { demo } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'A binary that ends at once is not restarted without limit, and pi works.',
  ours: true,
  workflows: { demo },
  replies: [call('bash', { command: 'echo free' }), say('One.')],
  async play(stage) {
    const pi = stage.start(undefined, { WORKFLOW_SIDECAR_BINARY: '/bin/false' });
    await pi.prompt('/workflow demo the greeting');
    await pi.quiet();
    await pi.prompt('Hello');
    await pi.settled(1, 30_000);
  },
  expect({ recording }) {
    assert.deepEqual(texts(recording, 'messages', /^result of bash/), ['result of bash\nfree\n']);
    assert.deepEqual(texts(recording, 'process'), ['pi ended: 0']);
  },
};
