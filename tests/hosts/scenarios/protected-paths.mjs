import assert from 'node:assert/strict';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { settings } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

const write = (/** @type {string} */ path) => call('write', { path, content: 'written' });

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'Protected paths are not written, however they are named: with `..`, by a link, as the host reads them.',
  ours: true,
  workflows: {},
  agent: settings({ tools: { rules: [{ block: ['write', 'edit'], path: ['.env', '.git/', 'node_modules/'], reason: 'protected' }] } }),
  project: { '.env': 'KEY=1\n', '.git': { config: '[core]\n' }, node_modules: { a: { 'index.js': '1' } }, src: { 'a.txt': '' } },
  replies: [
    write('.env'),
    write('src/../.env'),
    write('@.env'),
    write('deps/a/index.js'),
    write('alias'),
    call('edit', { path: '.git/config', edits: [{ oldText: '[core]', newText: '[evil]' }] }),
    write('node_modules/new/index.js'),
    write('.env.example'),
    write('src/a.txt'),
    say('Done.'),
  ],
  async play(stage) {
    const at = (/** @type {string} */ path) => join(stage.sandbox.cwd, path);
    symlinkSync('node_modules', at('deps'));
    symlinkSync('.env', at('alias'));
    const pi = stage.start();
    await pi.prompt('Write everywhere');
    await pi.settled();
    assert.equal(readFileSync(at('.env'), 'utf8'), 'KEY=1\n');
    assert.equal(readFileSync(at('node_modules/a/index.js'), 'utf8'), '1');
    assert.equal(readFileSync(at('.git/config'), 'utf8'), '[core]\n');
    assert.equal(readFileSync(at('src/a.txt'), 'utf8'), 'written');
  },
  expect({ recording }) {
    const results = texts(recording, 'messages', /^result of (write|edit)/);
    for (const result of results.slice(0, 7)) assert.match(result, /\(error\)\n.*protected/s);
    for (const result of results.slice(7)) assert.match(result, /^result of write\n/);
    assert.equal(results.length, 9);
  },
};
