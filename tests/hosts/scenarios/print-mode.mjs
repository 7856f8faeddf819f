import assert from 'node:assert/strict';

import { demo } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'Print mode ends by itself, and continues a run of RPC mode under the phase\'s rules.',
  differences: ['host-print@1.5.2'],
  workflows: { demo },
  replies: [say('Exploring.'), call('write', { path: 'a.txt', content: 'no' }), call('workflow_step', { action: 'next' }), say('Now in Build.')],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow demo the greeting');
    await pi.settled();
    await stage.close();
    const printing = stage.start(['--print', '--continue', 'Go on']);
    await printing.end();
    stage.recorder.add('process', `pi --print ended: ${printing.ended?.signal ?? printing.ended?.code}`, printing.stdout);
  },
  expect({ recording, requests, reference, host }) {
    // The host prints the last message if it is the agent's: a message sent at the end of a run replaces it.
    const answer = reference && host === '1.5.2' ? '' : '\nNow in Build.\n';
    assert.equal(texts(recording, 'process', /print/)[0], `pi --print ended: 0${answer}`);
    assert.equal(requests.length, 4);
  },
};
