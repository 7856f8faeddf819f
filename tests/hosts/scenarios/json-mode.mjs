import assert from 'node:assert/strict';

import { demo } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'JSON mode ends by itself, and continues a run of RPC mode under the phase\'s rules.',
  workflows: { demo },
  // 0.74.2 does not wait for the events of the last message before it ends.
  ignores: ({ stream, body }) => stream === 'messages' && body.join() === 'Now in Build.',
  replies: [say('Exploring.'), call('write', { path: 'a.txt', content: 'no' }), call('workflow_step', { action: 'next' }), say('Now in Build.')],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow demo the greeting');
    await pi.settled();
    await stage.close();
    const telling = stage.start(['--mode', 'json', '--continue', 'Go on']);
    await telling.end();
    stage.recorder.add('process', `pi --mode json ended: ${telling.ended?.signal ?? telling.ended?.code}`, telling.stdout);
  },
  expect({ recording }) {
    assert.equal(texts(recording, 'process', /json/)[0], 'pi --mode json ended: 0');
    assert.match(texts(recording, 'messages', /^result of write/)[0], /\(error\)/);
  },
};
