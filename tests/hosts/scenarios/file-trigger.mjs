import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { settings } from '../definitions.mjs';
import { say } from '../model.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'Text in a trigger file wakes the agent, and the file is emptied.',
  ours: true,
  workflows: {},
  agent: settings({ triggers: [{ file: '~/trigger.txt', prompt: 'External trigger: {content}' }] }),
  replies: [say('Hello.'), say('The tests pass.')],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('Hello');
    await pi.settled();
    const file = join(stage.sandbox.home, 'trigger.txt');
    writeFileSync(file, 'Run the tests\n');
    await pi.until((record) => record.type === 'message_end' && JSON.stringify(record).includes('The tests pass.'), 'the answer to the trigger');
    await pi.quiet();
    assert.equal(readFileSync(file, 'utf8'), '');
  },
  expect({ requests }) {
    assert.match(JSON.stringify(requests.at(-1)?.messages.at(-1)), /External trigger: Run the tests/);
  },
};
