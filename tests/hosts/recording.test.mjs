import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Normalizer, Recorder, texts } from './recording.mjs';

const recorder = () => new Recorder(new Normalizer([['/tmp/x/project', '<project>'], ['/tmp/x', '<root>']]));

/** @param {Recorder} recorded @param {import('./recording.mjs').Stream} stream */
const textsOf = (recorded, stream) => texts(recorded, stream);

/** @param {string} role @param {string} content */
const message = (role, content) => ({ role, content });

/** @param {any[]} messages @returns {import('./model.mjs').Request} */
const request = (messages) => ({ messages, tools: [], source: 'script' });

test('paths, task ids and times are replaced by names, the longest path first', () => {
  const clean = new Normalizer([['/tmp/x', '<root>'], ['/tmp/x/project', '<project>']]);
  const text = clean.text('/tmp/x/project/a wf-1795181249154-quyasi /tmp/x wf-1795181249155-abc wf-1795181249154-quyasi 2026-11-20T13:27:30.202Z');
  assert.equal(text, '<project>/a <task 1> <root> <task 2> <task 1> <time>');
});

test('a request shows the messages that it adds and removes', () => {
  const recorded = recorder();
  recorded.request(request([message('user', 'a')]), 0);
  recorded.request(request([message('user', 'a'), message('assistant', 'b'), message('user', 'c')]), 1);
  recorded.request(request([message('user', 'a'), message('user', 'd')]), 2);
  assert.deepEqual(textsOf(recorded, 'requests').filter((line) => !/^(tools|system)/.test(line)), [
    'request 1', '+ user\na',
    'request 2', '+ assistant', '+ user\nc',
    'request 3', 'takes back 2 of 3 messages', '+ user\nd',
  ]);
});

test('a status that is already shown is not recorded again', () => {
  const recorded = recorder();
  for (const statusText of [undefined, 'A', 'A', undefined]) {
    recorded.record({ type: 'extension_ui_request', method: 'setStatus', statusKey: 'w', statusText });
  }
  assert.deepEqual(textsOf(recorded, 'status'), ['w: A', 'w: (cleared)']);
});

test('an entry that does not follow the previous one names its parent', () => {
  const recorded = recorder();
  const entries = [
    { type: 'session', id: 's', parentId: null },
    { type: 'message', id: 'a', parentId: 's', message: message('user', 'x') },
    { type: 'message', id: 'b', parentId: 'a', message: message('assistant', 'y') },
    { type: 'message', id: 'c', parentId: 'a', message: message('assistant', 'z') },
  ];
  recorded.sessionFile('1', entries.map((entry) => JSON.stringify(entry)).join('\n'));
  assert.deepEqual(textsOf(recorded, 'entries'), ['session file 1', 'message user', 'message assistant', 'message assistant (after message user)']);
});

test('ignored blocks are not recorded', () => {
  const recorded = new Recorder(new Normalizer([]), ({ head }) => /tick/.test(head));
  recorded.add('widget', 'tick');
  recorded.add('widget', 'tock');
  assert.deepEqual(textsOf(recorded, 'widget'), ['tock']);
});
