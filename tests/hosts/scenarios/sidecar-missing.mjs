import assert from 'node:assert/strict';

import { demo, ticks } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

const missing = { WORKFLOW_SIDECAR_BINARY: '/nonexistent/workflow-sidecar' };

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'Without a binary pi works and reports what is missing; an active run stays blocked until it is cancelled.',
  ours: true,
  workflows: { demo },
  ignores: ticks,
  replies: [
    call('bash', { command: 'echo free' }),
    say('Nothing runs.'),
    say('Exploring.'),
    call('bash', { command: 'echo blocked' }),
    say('It is blocked.'),
    call('bash', { command: 'echo free again' }),
    say('Free.'),
  ],
  async play(stage) {
    const without = stage.start(undefined, missing);
    await without.prompt('/workflow demo the greeting');
    await without.quiet();
    await without.prompt('What can you do?');
    await without.settled();
    await stage.close();

    const first = stage.start();
    await first.command({ type: 'new_session' });
    await first.prompt('/workflow demo the greeting');
    await first.settled();
    await stage.close();

    const second = stage.start(['--mode', 'rpc', '--continue'], missing);
    await second.prompt('Go on');
    await second.settled(1, 30_000);
    await second.prompt('/cancel-workflow');
    await second.quiet();
    await second.prompt('And now?');
    await second.settled(1, 30_000);
  },
  expect({ recording }) {
    const [free, blocked, again] = texts(recording, 'messages', /^result of bash/);
    assert.equal(free, 'result of bash\nfree\n');
    assert.match(blocked, /\(error\).*\/cancel-workflow/s);
    assert.equal(again, 'result of bash\nfree again\n');
    assert.match(texts(recording, 'dialogs')[0], /nonexistent/);
  },
};
