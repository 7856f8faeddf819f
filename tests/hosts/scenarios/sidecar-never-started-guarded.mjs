import assert from 'node:assert/strict';

import { settings } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'If there are settings, a sidecar that never started blocks tools too, and names the file.',
  ours: true,
  workflows: {},
  agent: settings({ results: [{ redact: 'sk-\\w+' }] }),
  replies: [call('bash', { command: 'echo sk-secret' }), say('Blocked.')],
  async play(stage) {
    const pi = stage.start(undefined, { WORKFLOW_SIDECAR_BINARY: '/bin/false' });
    await pi.prompt('Work');
    await pi.settled(1, 30_000);
  },
  expect({ recording, requests }) {
    const [blocked] = texts(recording, 'messages', /^result of bash/);
    assert.match(blocked, /\(error\)\n.*is blocked: .*workflow-sidecar\.json5 may have rules on tools/s);
    assert.ok(!JSON.stringify(requests.at(-1)?.messages.filter(({ role }) => role === 'tool')).includes('secret'));
  },
};
