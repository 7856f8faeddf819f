import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Cleaner, Recorder, texts } from './recording.mjs';

const recorder = () => new Recorder(new Cleaner([['/tmp/x/project', '<project>'], ['/tmp/x', '<root>']]));

/** @param {Recorder} recorded @param {import('./recording.mjs').Stream} stream */
const told = (recorded, stream) => texts(recorded, stream);

/** @param {string} role @param {string} content */
const message = (role, content) => ({ role, content });

/** @param {any[]} messages @returns {import('./model.mjs').Request} */
const request = (messages) => ({ messages, tools: [], source: 'script' });

test('places, task ids and times give way to names, the longest place first', () => {
  const clean = new Cleaner([['/tmp/x', '<root>'], ['/tmp/x/project', '<project>']]);
  const text = clean.text('/tmp/x/project/a wf-1795181249154-quyasi /tmp/x wf-1795181249155-abc wf-1795181249154-quyasi 2026-11-20T13:27:30.202Z');
  assert.equal(text, '<project>/a <task 1> <root> <task 2> <task 1> <time>');
});

test('a request tells what is new in it, and what it takes back', () => {
  const recorded = recorder();
  recorded.request(request([message('user', 'a')]), 0);
  recorded.request(request([message('user', 'a'), message('assistant', 'b'), message('user', 'c')]), 1);
  recorded.request(request([message('user', 'a'), message('user', 'd')]), 2);
  assert.deepEqual(told(recorded, 'requests').filter((line) => !/^(tools|system)/.test(line)), [
    'request 1', '+ user\na',
    'request 2', '+ assistant', '+ user\nc',
    'request 3', 'takes back 2 of 3 messages', '+ user\nd',
  ]);
});

test('a status that says what is shown already is not told again', () => {
  const recorded = recorder();
  for (const statusText of [undefined, 'A', 'A', undefined]) {
    recorded.record({ type: 'extension_ui_request', method: 'setStatus', statusKey: 'w', statusText });
  }
  assert.deepEqual(told(recorded, 'status'), ['w: A', 'w: (cleared)']);
});

test('an entry that does not follow the one before says what it follows', () => {
  const recorded = recorder();
  const entries = [
    { type: 'session', id: 's', parentId: null },
    { type: 'message', id: 'a', parentId: 's', message: message('user', 'x') },
    { type: 'message', id: 'b', parentId: 'a', message: message('assistant', 'y') },
    { type: 'message', id: 'c', parentId: 'a', message: message('assistant', 'z') },
  ];
  recorded.sessionFile('1', entries.map((entry) => JSON.stringify(entry)).join('\n'));
  assert.deepEqual(told(recorded, 'entries'), ['session file 1', 'message user', 'message assistant', 'message assistant (after message user)']);
});

test('what a scenario forgets is not recorded', () => {
  const recorded = new Recorder(new Cleaner([]), ({ head }) => /tick/.test(head));
  recorded.add('widget', 'tick');
  recorded.add('widget', 'tock');
  assert.deepEqual(told(recorded, 'widget'), ['tock']);
});
