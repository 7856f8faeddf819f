import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { settings } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

const YES = 'Yes, restore code to that point';
const NO = 'No, keep current code';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'Each turn records the code; a move back in the tree or a fork asks the user, and only yes restores the code.',
  ours: true,
  workflows: {},
  agent: settings({ checkpoint: 'git' }),
  project: { 'a.txt': 'one\n' },
  replies: [
    call('write', { path: 'a.txt', content: 'two\n' }),
    say('Two.'),
    call('write', { path: 'a.txt', content: 'three\n' }),
    say('Three.'),
  ],
  async play(stage) {
    const { cwd } = stage.sandbox;
    const git = (/** @type {string[]} */ ...args) => execFileSync('git', ['-c', 'user.name=S', '-c', 'user.email=s@example.com', ...args], { cwd });
    const text = () => readFileSync(join(cwd, 'a.txt'), 'utf8');
    git('init', '--quiet');
    git('add', '.');
    git('commit', '--quiet', '--message', 'one');
    const pi = stage.start();
    await pi.prompt('Make it two');
    await pi.settled();
    await pi.prompt('Make it three');
    await pi.settled();
    pi.answer(NO);
    await pi.prompt('/probe tree 1');
    await pi.quiet();
    assert.equal(text(), 'three\n');
    writeFileSync(join(cwd, 'a.txt'), 'four\n');
    pi.answer(YES);
    const { data } = await pi.command({ type: 'get_fork_messages' });
    await pi.command({ type: 'fork', entryId: data.messages[0].entryId });
    await pi.quiet();
    assert.equal(text(), 'one\n');
    assert.match(git('stash', 'list').toString(), /before the code went back/);
  },
  expect({ recording }) {
    assert.equal(texts(recording, 'dialogs', /^select Restore code state\?/).length, 2);
  },
};
