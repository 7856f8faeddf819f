import assert from 'node:assert/strict';

import { demo, ticks } from '../definitions.mjs';
import { pause, say } from '../model.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'No sidecar outlives pi, however pi ends.',
  ours: true,
  needsBinary: true,
  workflows: { demo },
  ignores: ticks,
  replies: [pause(say('I will talk for long.')), pause(say('I will talk for long.')), pause(say('I will talk for long.')), say('Short.')],
  async play(stage) {
    for (const signal of /** @type {NodeJS.Signals[]} */ (['SIGKILL', 'SIGTERM', 'SIGINT'])) {
      const pi = stage.start();
      await pi.prompt('/workflow demo the greeting');
      await stage.model.pausedReply();
      assert.equal(stage.sidecars.alive.length, 1);
      await pi.kill(signal);
      stage.model.release();
      assert.ok(await stage.sidecars.gone(2_000), `a sidecar outlived ${signal}`);
    }
    const pi = stage.start();
    await pi.prompt('/workflow demo the greeting');
    await pi.settled();
    await stage.close();
    assert.ok(await stage.sidecars.gone(2_000), 'a sidecar outlived the end of the input');
  },
};
