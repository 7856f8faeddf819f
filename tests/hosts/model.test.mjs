import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';

import { ScriptedModel, call, fail, pause, say, together } from './model.mjs';

/** @param {string} url */
const ask = (url, tools = [{ type: 'function', function: { name: 'read' } }]) =>
  fetch(`${url}/v1/chat/completions`, { method: 'POST', body: JSON.stringify({ messages: [{ role: 'user', content: 'hi' }], tools, stream: true }) });

/** @param {Response} response */
async function chunks(response) {
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: {'));
  return lines.map((line) => JSON.parse(line.slice(6)).choices[0]).filter(Boolean);
}

/** @param {import('node:test').TestContext} t @param {import('./model.mjs').Reply[]} script */
async function serve(t, script) {
  const model = new ScriptedModel(script);
  t.after(() => model.close());
  return { model, url: await model.listen() };
}

test('replies come in the order of the script, then a plain text', async (t) => {
  const { model, url } = await serve(t, [say('one'), fail(500, 'broken')]);
  assert.equal((await chunks(await ask(url)))[0].delta.content, 'one');
  assert.equal((await ask(url)).status, 500);
  assert.match((await chunks(await ask(url)))[0].delta.content, /Nothing more/);
  assert.deepEqual(model.requests.map(({ source }) => source), ['script', 'script', 'beyond']);
});

test('several tool calls make one message', async (t) => {
  const { url } = await serve(t, [together(call('a', { n: 1 }), call('b', {}))]);
  const made = (await chunks(await ask(url))).flatMap(({ delta }) => delta.tool_calls ?? []);
  assert.deepEqual(made.map(({ index, id, function: f }) => [index, id, f.name]), [[0, 'call_1', 'a'], [1, 'call_2', 'b']]);
});

test('a request for a summary does not use up the script', async (t) => {
  const { model, url } = await serve(t, [say('one')]);
  assert.match((await chunks(await ask(url, [])))[0].delta.content, /summary/);
  assert.equal((await chunks(await ask(url)))[0].delta.content, 'one');
  assert.deepEqual(model.requests.map(({ source }) => source), ['summary', 'script']);
});

test('a paused reply ends only after release', async (t) => {
  const { model, url } = await serve(t, [pause(say('abcd'))]);
  const response = await ask(url);
  assert.equal(model.pausedCount, 1);
  model.release();
  assert.deepEqual((await chunks(response)).map(({ delta }) => delta.content ?? '').join(''), 'abcd');
});

test('an attempt to reach another machine through the proxy is refused and recorded', async (t) => {
  const { model, url } = await serve(t, []);
  const { hostname, port } = new URL(url);
  const status = await new Promise((resolve) => {
    const tunnel = request({ hostname, port, method: 'CONNECT', path: 'example.invalid:443' });
    tunnel.on('connect', (response) => resolve(response.statusCode)).end();
  });
  assert.equal(status, 403);
  assert.deepEqual(model.outsideRequests, ['example.invalid:443']);
});
