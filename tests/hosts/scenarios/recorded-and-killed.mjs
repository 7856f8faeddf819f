import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { demo, ticks } from '../definitions.mjs';
import { call, pause, say } from '../model.mjs';

const secret = 'hunter2-hunter2';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'An environment variable records every sidecar, a killed one up to its end, without the arguments of tools.',
  ours: true,
  needsBinary: true,
  workflows: { demo },
  ignores: ticks,
  replies: [
    call('bash', { command: `echo ${secret}` }),
    pause(call('write', { path: 'a.txt', content: secret })),
    call('workflow_step', { action: 'next' }),
    call('write', { path: 'a.txt', content: secret }),
    say('Shall I go on?'),
  ],
  async play(stage) {
    const recordings = join(stage.sandbox.root, 'recordings');
    mkdirSync(recordings);
    const pi = stage.start(['--mode', 'rpc'], { WORKFLOW_SIDECAR_RECORD: recordings, WORKFLOW_SIDECAR_RECORD_REDACT: '1' });
    await pi.prompt('/workflow demo the greeting');
    await stage.model.pausedReply();
    stage.sidecars.signal('SIGKILL');
    stage.model.release();
    await pi.settled(1, 30_000);
    await stage.close();
    const files = readdirSync(recordings).map((file) => join(recordings, file));
    assert.equal(files.length, stage.sidecars.pids.length);
    assert.ok(files.length >= 2);
    for (const file of files) {
      assert.doesNotMatch(readFileSync(file, 'utf8'), /hunter/);
      stage.sidecars.replay(file);
    }
  },
};
