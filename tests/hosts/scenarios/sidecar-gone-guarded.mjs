import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { settings } from '../definitions.mjs';
import { call, pause, say } from '../model.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'If the settings have rules, a missing sidecar blocks tools without any workflow, and the text of a running tool is withheld.',
  ours: true,
  needsBinary: true,
  workflows: {},
  agent: settings({ results: [{ redact: 'sk-\\w+' }] }),
  replies: [
    call('bash', { command: 'touch started; while [ ! -e go ]; do sleep 0.1; done; echo sk-secret' }),
    pause(call('bash', { command: 'touch ran' })),
    say('Blocked.'),
  ],
  async play(stage) {
    const at = (/** @type {string} */ name) => join(stage.sandbox.cwd, name);
    const pi = stage.start();
    await pi.prompt('Work');
    await pi.until(({ type }) => type === 'tool_execution_start', 'the first call');
    while (!existsSync(at('started'))) await new Promise((resolve) => setTimeout(resolve, 20));
    writeFileSync(stage.sidecars.env.WORKFLOW_SIDECAR_BINARY, '#!/bin/sh\nexit 1\n');
    stage.sidecars.signal('SIGKILL');
    writeFileSync(at('go'), '');
    await stage.model.pausedReply();
    stage.model.release();
    await pi.settled();
    assert.ok(!existsSync(at('ran')));
  },
  expect({ recording, requests }) {
    const [withheld, blocked] = texts(recording, 'messages', /^result of bash/);
    assert.match(withheld, /has run, but what it said is withheld: the settings have rules/);
    assert.match(blocked, /\(error\)\n.*is blocked: the settings have rules/s);
    assert.ok(!JSON.stringify(requests.at(-1)?.messages.filter(({ role }) => role === 'tool')).includes('secret'));
  },
};
