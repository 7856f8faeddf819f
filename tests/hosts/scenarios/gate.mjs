import assert from 'node:assert/strict';

import { phase, workflow } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

const gate = [{ run: ['node', '--test', 'sum.test.mjs'], timeout: '1m' }, { run: ['sleep', '1.2'] }, { file: 'sum.mjs', changed: true }];
const test = `import assert from 'node:assert';
import { test } from 'node:test';
import { sum } from './sum.mjs';
test('sum', () => assert.equal(sum(1, 2), 3));
`;

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'A gate runs the real tests: while they fail the phase is not left, and their output is shown; a long one shows its progress.',
  ours: true,
  workflows: { build: workflow('Build', [phase('Work', '🔨', { gate }), phase('Check', '✅')]) },
  project: { 'sum.mjs': 'export const sum = (a, b) => a - b;\n', 'sum.test.mjs': test },
  replies: [
    call('workflow_step', { action: 'next' }),
    call('write', { path: 'sum.mjs', content: 'export const sum = (a, b) => a + b;\n' }),
    call('workflow_step', { action: 'next' }),
    call('workflow_step', { action: 'next' }),
    say('Done.'),
  ],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow build the sum');
    await pi.settled();
  },
  expect({ recording }) {
    const [failed, passed, done] = texts(recording, 'messages', /^result of workflow_step/);
    assert.match(failed, /node --test sum\.test\.mjs.*exit code 1.*(expected|-1 !== 3)/s);
    assert.doesNotMatch(failed, /Advanced/);
    assert.match(passed, /Work → ✅ Check.*node --test.*sleep 1\.2.*sum\.mjs changed/s);
    assert.match(done, /complete/i);
    const widgets = texts(recording, 'widget');
    assert.match(widgets.join('\n'), /Checking 2 of 3: sleep 1\.2 \(\d s\)/);
    assert.match(widgets.at(-1) ?? '', /cleared/);
    assert.ok(texts(recording, 'entries', /^custom workflow:gate/).length >= 3);
  },
};
