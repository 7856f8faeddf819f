import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { phase, ticks, workflow } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

const next = call('workflow_step', { action: 'next' });
const gate = (/** @type {string} */ name) => [{ run: ['touch', name] }];
const phases = [phase('One', '1️⃣', { gate: gate('one') }), phase('Two', '2️⃣', { gate: gate('two') }), phase('Three', '3️⃣', { gate: gate('three') }), phase('Four', '4️⃣')];

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'Commands of a project run after the user has agreed, once; never if the host reports that the project is not trusted.',
  ours: true,
  workflows: {},
  // The host has a notion of trust only for projects with files that it would load itself.
  project: { '.pi': { 'settings.json': '{}', workflows: { ours: workflow('Ours', phases) } } },
  ignores: ticks,
  replies: [next, next, next, say('In three.'), next, say('Here.')],
  async play(stage) {
    const ran = (/** @type {string} */ name) => existsSync(join(stage.sandbox.cwd, name));
    const pi = stage.start(['--mode', 'rpc', ...stage.host.approve]);
    // At the start, at the first gate, and at the next try.
    pi.answer(false, false, true);
    await pi.prompt('/workflow ours the project');
    await pi.settled();
    assert.deepEqual([ran('one'), ran('two'), ran('three')], [true, true, false]);
    await stage.close();
    const later = stage.start(['--mode', 'rpc', '--continue']);
    await later.prompt('Go on');
    await later.settled();
    // 0.74.2 has no project trust.
    assert.equal(ran('three'), stage.host.approve.length === 0);
  },
  expect({ recording, host }) {
    const [first, second, third, last] = texts(recording, 'messages', /^result of workflow_step/);
    assert.match(first, /touch one.*not trusted, and the user did not agree/s);
    assert.match(second, /One → 2️⃣ Two.*✓ touch one/s);
    assert.match(third, /Two → 3️⃣ Three.*✓ touch two/s);
    if (host === '1.5.2') assert.match(last, /touch three.*does not trust the project in this host/s);
    const asked = texts(recording, 'dialogs', /^confirm /);
    assert.equal(asked.length, 3);
    assert.match(asked[0], /Run commands of this project\?.*touch one  \(.*touch two  \(.*touch three  \(/s);
  },
};
