import assert from 'node:assert/strict';

import { phase, workflow } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

const next = call('workflow_step', { action: 'next' });

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: "A phase sets the model and hides the tools that it blocks; the user's own settings come back after it.",
  ours: true,
  workflows: {
    look: workflow('Look', [
      phase('Read', '📖', { tools: { blacklist: ['edit', 'write'] }, model: 'scripted/second', activeTools: true }),
      phase('Write', '✍️'),
    ]),
  },
  replies: [say('Reading.'), next, say('Writing.'), say('Still.')],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('/workflow look the sum');
    await pi.settled();
    await pi.prompt('/workflow-pause');
    await pi.prompt('Go on');
    await pi.settled();
    await pi.prompt('/cancel-workflow');
    await pi.prompt('And now');
    await pi.settled();
  },
  expect({ requests, recording }) {
    const names = (/** @type {any} */ request) => request.tools.map((/** @type {any} */ tool) => tool.function.name);
    const [read, , , after] = requests;
    assert.ok(!names(read).includes('edit') && !names(read).includes('write') && names(read).includes('read'), `${names(read)}`);
    assert.ok(names(after).includes('edit') && names(after).includes('write'), `${names(after)}`);
    const session = recording.blocks.filter(({ stream }) => stream !== 'widget').map(({ body }) => body.join('\n')).join('\n');
    assert.match(session, /second/);
  },
};
