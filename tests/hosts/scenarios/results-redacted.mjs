import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

import { settings } from '../definitions.mjs';
import { call, say } from '../model.mjs';
import { texts } from '../recording.mjs';

const KEY = `sk-${'a1'.repeat(12)}`;
/** A picture of one point. */
const PICTURE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'Secrets in results reach neither the model nor the session; failures, pictures and details are unchanged.',
  ours: true,
  workflows: {},
  agent: settings({
    results: [
      { redact: 'sk-[A-Za-z0-9]{20,}', with: '[key]' },
      { tool: 'bash', on: 'error', append: 'Read the error first.' },
      { tool: ['read', 'edit'], append: 'Looked at.' },
    ],
  }),
  project: { 'a.txt': 'one\n' },
  replies: [
    call('bash', { command: `echo the key is ${KEY}` }),
    call('bash', { command: `echo ${KEY}; exit 3` }),
    call('bash', { command: `echo ${PICTURE} | base64 -d > a.png` }),
    call('read', { path: 'a.png' }),
    call('edit', { path: 'a.txt', edits: [{ oldText: 'one', newText: 'two' }] }),
    say('Done.'),
  ],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('Look');
    await pi.settled();
    await stage.close();
    const entries = readFileSync(stage.sessionFiles()[0], 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
    const results = entries.flatMap(({ message }) => (message?.role === 'toolResult' ? [message] : []));
    const [, failed, , picture, edited] = results;
    assert.equal(failed.isError, true);
    assert.deepEqual(picture.content.map((/** @type {any} */ part) => part.type), ['text', 'image']);
    assert.match(edited.details.diff, /two/);
    assert.ok(results.every(({ content }) => !JSON.stringify(content).includes(KEY)));
  },
  expect({ recording, requests }) {
    const [plain, failed] = texts(recording, 'messages', /^result of bash/);
    assert.equal(plain, 'result of bash\nthe key is [key]\n');
    assert.match(failed, /^result of bash \(error\)\n\[key\]\n.*exited with code 3\nRead the error first\.$/s);
    assert.match(texts(recording, 'messages', /^result of read/)[0], /Looked at\.$/);
    const told = requests.at(-1)?.messages.filter(({ role }) => role === 'tool') ?? [];
    assert.ok(told.length === 5 && !JSON.stringify(told).includes(KEY));
  },
};
