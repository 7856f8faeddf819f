import assert from 'node:assert/strict';

import { demo, ticks } from '../definitions.mjs';
import { hold, say } from '../model.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'However pi ends, in the middle of an answer or not, no sidecar outlives it.',
  ours: true,
  needsBinary: true,
  workflows: { demo },
  forgets: ticks,
  replies: [hold(say('I will talk for long.')), hold(say('I will talk for long.')), hold(say('I will talk for long.')), say('Short.')],
  async play(stage) {
    for (const signal of /** @type {NodeJS.Signals[]} */ (['SIGKILL', 'SIGTERM', 'SIGINT'])) {
      const pi = stage.start();
      await pi.prompt('/workflow demo the greeting');
      await stage.model.heldReply();
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
