import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { phase, workflow } from '../definitions.mjs';
import { call, say } from '../model.mjs';

const next = call('workflow_step', { action: 'next' });

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'A recording of a run that waits for an approval, or whose dialog was dismissed, replays without a difference.',
  ours: true,
  needsBinary: true,
  workflows: { plan: workflow('Plan', [phase('Draft', '📝', { approve: { ask: 'Plan OK?' } }), phase('Build', '🔨')]) },
  replies: [next, say('I wait.'), next, say('I wait again.')],
  async play(stage) {
    const waiting = join(stage.sandbox.root, 'waiting.jsonl');
    const printing = stage.start(['--print', '--workflow-record', waiting, '/workflow plan the sum']);
    await printing.end();
    const dismissed = join(stage.sandbox.root, 'dismissed.jsonl');
    const pi = stage.start(['--mode', 'rpc', '--workflow-record', dismissed]);
    pi.answer(null);
    await pi.prompt('/workflow plan the sum');
    await pi.settled();
    await stage.close();
    for (const file of [waiting, dismissed]) {
      assert.match(readFileSync(file, 'utf8'), /"result":\{"approvalRequested":/);
      stage.sidecars.replay(file);
    }
  },
};
