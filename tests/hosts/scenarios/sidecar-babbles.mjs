import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { demo } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'A binary that writes nonsense or never answers does not stop pi.',
  ours: true,
  workflows: { demo },
  replies: [call('bash', { command: 'echo free' }), say('One.')],
  async play(stage) {
    const binary = join(stage.sandbox.root, 'nonsense');
    writeFileSync(binary, '#!/bin/sh\necho nonsense\nexec cat > /dev/null\n', { mode: 0o755 });
    const pi = stage.start(undefined, { WORKFLOW_SIDECAR_BINARY: binary });
    pi.patience = 60_000;
    await pi.prompt('Hello');
    await pi.settled();
  },
  expect({ recording }) {
    assert.deepEqual(texts(recording, 'messages', /^result of bash/), ['result of bash\nfree\n']);
    assert.deepEqual(texts(recording, 'process'), ['pi ended: 0']);
  },
};
