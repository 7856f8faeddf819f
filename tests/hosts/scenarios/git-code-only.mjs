import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { settings } from '../definitions.mjs';
import { call, say } from '../model.mjs';

const CODE_ONLY = 'Yes, restore only the code and keep the conversation';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'A person who goes back may want only the code back: the conversation stays.',
  ours: true,
  workflows: {},
  agent: settings({ checkpoint: 'git' }),
  project: { 'a.txt': 'one\n' },
  replies: [call('write', { path: 'a.txt', content: 'two\n' }), say('Two.'), say('Still here.')],
  async play(stage) {
    const { cwd } = stage.sandbox;
    const git = (/** @type {string[]} */ ...args) => execFileSync('git', ['-c', 'user.name=S', '-c', 'user.email=s@example.com', ...args], { cwd });
    git('init', '--quiet');
    git('add', '.');
    git('commit', '--quiet', '--message', 'one');
    const pi = stage.start();
    await pi.prompt('Make it two');
    await pi.settled();
    pi.answer(CODE_ONLY);
    const { data } = await pi.command({ type: 'get_fork_messages' });
    const forked = await pi.command({ type: 'fork', entryId: data.messages[0].entryId });
    await pi.quiet();
    assert.equal(forked.data.cancelled, true);
    assert.equal(readFileSync(join(cwd, 'a.txt'), 'utf8'), 'one\n');
    await pi.prompt('Are you there?');
    await pi.settled();
  },
  expect({ requests }) {
    assert.match(JSON.stringify(requests.at(-1)?.messages), /Make it two.*Are you there/s);
  },
};
