import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';

import { phase, workflow } from '../definitions.mjs';
import { call, say } from '../model.mjs';

const next = call('workflow_step', { action: 'next' });
const last = (/** @type {object} */ more) => [phase('Draft', '📝'), phase('Build', '🔨', more)];

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: '`workflow-sidecar runs` has each run as it ended, with its last phase: by a gate, an approval, a cancellation and a skip.',
  ours: true,
  needsBinary: true,
  workflows: {
    gate: workflow('Gate', last({ gate: [{ file: 'plan.md' }] })),
    approval: workflow('Approval', last({ approve: { ask: 'Right?', choices: ['yes', 'no'] } })),
    plain: workflow('Plain', last({})),
  },
  project: { 'plan.md': 'Add the numbers.\n' },
  replies: [next, next, say('Done.'), next, next, say('Done.'), say('Begun.'), say('Begun.'), say('On.'), say('Over.')],
  async play(stage) {
    const pi = stage.start();
    pi.answer('yes');
    await pi.prompt('/workflow gate the sum');
    await pi.settled();
    await pi.prompt('/workflow approval the sum');
    await pi.settled();
    await pi.prompt('/workflow plain the sum');
    await pi.settled();
    await pi.prompt('/cancel-workflow');
    await pi.prompt('/workflow plain the rest');
    await pi.settled();
    await pi.prompt('/workflow-skip');
    await pi.settled();
    await pi.prompt('/workflow-skip');
    await stage.close();
    const binary = stage.sidecars.env['WORKFLOW_SIDECAR_BINARY'] ?? '';
    const listed = spawnSync(binary, ['runs', '--format', 'json', '--agent-dir', stage.sandbox.agent], {
      encoding: 'utf8',
      env: { ...process.env, HOME: stage.sandbox.home },
    });
    /** @type {{ workflow: string; state: string; phase: string }[]} */
    const runs = JSON.parse(listed.stdout);
    assert.deepEqual(
      runs.map((run) => [run.workflow, run.state, run.phase]),
      [
        ['plain', 'complete', 'Build'],
        ['plain', 'cancelled', 'Draft'],
        ['approval', 'complete', 'Build'],
        ['gate', 'complete', 'Build'],
      ],
    );
  },
};
