import assert from 'node:assert/strict';

import { demo } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'A tool of the blacklist, and one outside the whitelist, are blocked with a reason; others run; workflow_step always does.',
  workflows: { demo },
  replies: [
    call('write', { path: 'a.txt', content: 'too early' }),
    call('bash', { command: 'echo allowed' }),
    call('no_such_tool', {}),
    call('workflow_step', { action: 'next' }),
    call('bash', { command: 'echo blocked > b.txt' }),
    call('write', { path: 'a.txt', content: 'now' }),
    call('bash', { command: 'echo blocked again' }),
    call('workflow_step', { action: 'next' }),
    call('bash', { command: 'cat a.txt; ls' }),
    call('workflow_step', { action: 'next' }),
    say('Done.'),
  ],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow demo the file');
    await pi.settled();
  },
  expect({ recording }) {
    const results = texts(recording, 'messages', /^result of (write|bash)/);
    assert.match(results[0], /^result of write \(error\)\n.*"write".*Explore/s);
    assert.equal(results[1], 'result of bash\nallowed\n');
    assert.match(results[2], /^result of bash \(error\)\n.*"bash".*Build/s);
    assert.match(results[3], /^result of write\n/);
    assert.match(results[4], /^result of bash \(error\)/);
    assert.equal(results[5], 'result of bash\nnowa.txt\n');
  },
};
