import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { demo, ticks } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'A binary that always ends at once, or answers nonsense, is not started for ever, and pi works.',
  ours: true,
  workflows: { demo },
  forgets: ticks,
  replies: [call('bash', { command: 'echo free' }), say('One.'), call('bash', { command: 'echo free' }), say('Two.')],
  async play(stage) {
    const nonsense = join(stage.place.root, 'nonsense');
    writeFileSync(nonsense, '#!/bin/sh\necho nonsense\nexec cat > /dev/null\n', { mode: 0o755 });
    for (const binary of ['/bin/false', nonsense]) {
      const pi = stage.start(undefined, { WORKFLOW_SIDECAR_BINARY: binary });
      await pi.prompt('/workflow demo the greeting');
      await pi.quiet();
      await pi.prompt('Hello');
      await pi.settled(1, 30_000);
      await stage.close();
    }
  },
  expect({ recording }) {
    assert.deepEqual(texts(recording, 'messages', /^result of bash/), ['result of bash\nfree\n', 'result of bash\nfree\n']);
    assert.deepEqual(texts(recording, 'process'), ['pi ended: 0', 'pi ended: 0']);
  },
};
