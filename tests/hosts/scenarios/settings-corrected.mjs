import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'Settings that cannot be read block every tool until they are corrected: then they apply to the next call.',
  ours: true,
  needsBinary: true,
  workflows: {},
  agent: { 'workflow-sidecar.json5': '{ tools: { blacklist: ["write"] ' },
  replies: [call('bash', { command: 'echo one' }), say('Blocked.'), call('bash', { command: 'echo two' }), say('Done.')],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('Work');
    await pi.settled();
    writeFileSync(join(stage.sandbox.agent, 'workflow-sidecar.json5'), '{ tools: { blacklist: ["write"] } }');
    await pi.prompt('Again');
    await pi.settled();
  },
  expect({ recording }) {
    const [blocked, ran] = texts(recording, 'messages', /^result of bash/);
    assert.match(blocked, /is blocked by the user's settings .*workflow-sidecar\.json5:1/s);
    assert.match(ran, /two/);
    assert.match(texts(recording, 'dialogs').join('\n'), /can be read again/);
  },
};
