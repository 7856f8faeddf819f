import assert from 'node:assert/strict';

import { demo, nested } from '../definitions.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'The names of workflows are completed: those of the project too, hidden ones not.',
  differences: ['B29'],
  workflows: nested,
  project: { '.pi': { workflows: { demo } } },
  replies: [],
  wraps: true,
  async play(stage) {
    const pi = stage.start(['--mode', 'rpc', ...stage.host.approve]);
    for (const prefix of ['', 'ou', 'de', 'nothing']) await pi.prompt(`/probe complete workflow ${prefix}`);
  },
  expect({ recording, reference }) {
    const [all, some, project, none] = texts(recording, 'dialogs').map((line) => JSON.parse(line.slice(line.indexOf(': ') + 2)));
    const names = (/** @type {any} */ items) => items?.map((/** @type {any} */ { value }) => value) ?? null;
    assert.deepEqual(names(all), reference ? ['outer'] : ['outer', 'demo']);
    assert.deepEqual(names(some), ['outer']);
    assert.deepEqual(names(project), reference ? null : ['demo']);
    assert.equal(none, null);
  },
};
