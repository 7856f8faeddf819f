import assert from 'node:assert/strict';

import { demo, ticks } from '../definitions.mjs';
import { SUMMARY, call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'After a compaction the agent gets its phase in full again, and the rules apply.',
  workflows: { demo },
  ignores: ticks,
  settings: { compaction: { enabled: false, reserveTokens: 1_000, keepRecentTokens: 1 } },
  replies: [call('workflow_step', { action: 'next' }), say('Building.'), call('bash', { command: 'echo no' }), say('Still building.')],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow demo the greeting');
    await pi.settled();
    const { success, error } = await pi.command({ type: 'compact' });
    assert.ok(success, error);
    await pi.prompt('Go on');
    await pi.settled();
  },
  expect({ recording, requests }) {
    assert.match(texts(recording, 'messages', /^result of bash/)[0], /\(error\).*Build/s);
    const [after] = requests.slice(-2);
    const told = JSON.stringify(after.messages);
    assert.ok(told.includes(SUMMARY));
    assert.match(told, /Change the greeting after Explore/);
  },
};
