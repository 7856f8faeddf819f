import assert from 'node:assert/strict';
import { createServer } from 'node:net';

import { settings } from '../definitions.mjs';
import { say } from '../model.mjs';

/** A port that was free a moment ago; two hosts may play at a time. */
const port = await new Promise((resolve) => {
  const server = createServer().listen(0, '127.0.0.1', () => {
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
    server.close(() => resolve(port));
  });
});

const post = async (/** @type {string} */ token) => {
  const options = { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: 'CI build failed' };
  return (await fetch(`http://127.0.0.1:${port}`, options)).status;
};

/** @type {import('../scenario.mjs').Scenario} */
export default {
  about: 'A request with the token wakes the agent, one without it is refused.',
  ours: true,
  workflows: {},
  agent: settings({ triggers: [{ http: { port, token: 'sesame' }, prompt: 'The build says: {body}' }] }),
  replies: [say('Hello.'), say('I look into it.')],
  async play(stage) {
    const pi = stage.start();
    await pi.prompt('Hello');
    await pi.settled();
    assert.equal(await post('wrong'), 401);
    assert.equal(await post('sesame'), 200);
    await pi.until((record) => record.type === 'message_end' && JSON.stringify(record).includes('I look into it.'), 'the answer to the request');
    await pi.quiet();
  },
  expect({ requests }) {
    assert.equal(requests.length, 2);
    assert.match(JSON.stringify(requests.at(-1)?.messages.at(-1)), /The build says: CI build failed/);
  },
};
