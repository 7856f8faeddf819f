import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { settings } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'Dangerous commands are asked about without any workflow: yes runs, no or no answer blocks, and so does print mode.',
  ours: true,
  workflows: {},
  agent: settings({ tools: { rules: [{ ask: 'bash', command: ['rm -r*', 'sudo *', 'chmod *777*'], reason: 'dangerous' }] } }),
  project: { old: { a: '' }, kept: { a: '' } },
  replies: [
    call('bash', { command: 'rm -rf old' }),
    call('bash', { command: 'true && sudo -n rm -rf kept' }),
    call('bash', { command: 'rm -fr kept' }),
    call('bash', { command: 'chmod -R 777 kept' }),
    call('bash', { command: 'echo "rm -rf kept"' }),
    say('Done.'),
    call('bash', { command: 'rm -rf kept' }),
    say('I may not.'),
  ],
  async play(stage) {
    const pi = stage.start();
    pi.answer(true, false, null, false);
    await pi.prompt('Clean up');
    await pi.settled();
    assert.deepEqual([existsSync(join(stage.sandbox.cwd, 'old')), existsSync(join(stage.sandbox.cwd, 'kept'))], [false, true]);
    await stage.close();
    const printing = stage.start(['--print', '--continue', 'Clean up more']);
    await printing.end();
    assert.ok(existsSync(join(stage.sandbox.cwd, 'kept')));
  },
  expect({ recording, requests }) {
    const results = texts(recording, 'messages', /^result of bash/);
    assert.equal(results[0], 'result of bash\n(no output)');
    for (const result of results.slice(1, 4)) assert.match(result, /\(error\)\n.*dangerous.*did not allow it/s);
    assert.equal(results[4], 'result of bash\nrm -rf kept\n');
    const asked = texts(recording, 'dialogs', /^confirm /);
    assert.equal(asked.length, 4);
    assert.match(asked[0], /Allow bash\?.*rm -rf old/s);
    const printed = requests.at(-1)?.messages.findLast(({ role }) => role === 'tool');
    assert.match(JSON.stringify(printed.content), /dangerous.*cannot ask/);
  },
};
