import assert from 'node:assert/strict';
import { createServer } from 'node:net';

import { settings } from '../definitions.mjs';
import { say } from '../model.mjs';

/** A free port below those that systems give to servers without a port of their own, which start meanwhile. */
const port = await (async () => {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const server = createServer();
    const isFree = await new Promise((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    await new Promise((resolve) => server.close(resolve));
    if (isFree) return port;
  }
})();

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
