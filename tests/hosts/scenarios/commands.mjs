import assert from 'node:assert/strict';

import { demo, nested, ticks } from '../definitions.mjs';
import { say } from '../model.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'The commands report missing and unknown arguments, and ask before a second start.',
  differences: ['B03', 'B31'],
  workflows: { demo, ...nested },
  ignores: ticks,
  replies: [say('First.'), say('Second.')],
  async play(stage) {
    const pi = stage.start();
    const starts = ['/workflow', '/workflow demo', '/workflow nope something', '/workflow deep something', '/cancel-workflow'];
    for (const start of starts) await pi.prompt(start);
    await pi.prompt('/workflow demo the first task');
    await pi.settled();
    pi.answer(false);
    await pi.prompt('/workflow outer the second task');
    await pi.quiet();
    pi.answer(null);
    await pi.prompt('/workflow outer the second task');
    await pi.quiet();
    pi.answer(true);
    await pi.prompt('/workflow outer the second task');
    await pi.settled();
    await pi.prompt('/cancel-workflow');
    await pi.quiet();
    await pi.prompt('/cancel-workflow');
    await pi.quiet();
  },
  expect({ recording, requests }) {
    const dialogs = texts(recording, 'dialogs');
    assert.match(dialogs[0], /Usage: \/workflow .*demo — Demo/s);
    assert.match(dialogs[2], /Unknown workflow: "nope"/);
    assert.deepEqual(dialogs.filter((line) => line.startsWith('→')), ['→ false', '→ cancelled', '→ true']);
    assert.equal(requests.length, 2);
  },
};
