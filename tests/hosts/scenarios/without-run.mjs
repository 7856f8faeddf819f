import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { phase, workflow } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

const write = (path) => call('write', { path, content: 'x' });

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'Without a run a write asks what to start, and quick and off lift the rules.',
  ours: true,
  workflows: { work: workflow('Work', [phase('Look', '👀', { tools: { blacklist: ['write'] } })]) },
  agent: { 'workflow-sidecar.json5': "{ withoutRun: { tools: 'read-only', start: 'work' } }" },
  replies: [write('a.txt'), say('Blocked.')],
  async play(stage) {
    const pi = stage.start();
    pi.answer('Start work');
    await pi.prompt('add a');
    await pi.settled();
    assert.match(JSON.stringify(stage.model.requests), /blocked during the Look phase/);
    await pi.prompt('/cancel-workflow');
    stage.model.play([write('b.txt'), call('workflow_step', { action: 'next' }), say('Done.')]);
    await pi.prompt('/workflow-quick add b');
    await pi.settled();
    await pi.prompt('/workflow-off 30m');
    stage.model.play([write('c.txt'), say('Free.')]);
    await pi.prompt('add c');
    await pi.settled();
    const project = (name) => join(stage.sandbox.cwd, name);
    assert.deepEqual(['a.txt', 'b.txt', 'c.txt'].map((name) => existsSync(project(name))), [false, true, true]);
  },
  expect({ recording }) {
    const asked = texts(recording, 'dialogs', /^select /);
    assert.match(asked[0], /add a.*Start work.*Quick.*Write freely for 30 minutes/s);
    assert.match(texts(recording, 'dialogs', /^notify /).join('\n'), /off for 30 min/);
  },
};
