/**
 * A scripted model that speaks Anthropic's Messages API on loopback, with server-sent events.
 *
 * Answers the n-th request of the main conversation with the n-th reply of its script, and records these requests. Requests without
 * the tools of the agent, for titles and summaries, get a short text.
 */
import { createServer } from 'node:http';

/** A text. @param {string} text */
export const say = (text) => ({ type: 'text', text });

/** The word in the task of another agent than the main one, which has a script of its own. */
export const SUBTASK = 'SUBTASK';

let calls = 0;

/** A call of a tool. @param {string} name @param {object} input */
export const call = (name, input) => ({ type: 'tool_use', id: `toolu_${++calls}`, name, input });

/** The texts that the model gets in a request, in order. @param {any} request */
export const textsOf = (request) => {
  const texts = [];
  const add = (content) => {
    if (typeof content === 'string') texts.push(content);
    for (const part of Array.isArray(content) ? content : []) {
      if (part.type === 'text') texts.push(part.text);
      if (part.type === 'tool_result') add(part.content);
    }
  };
  for (const message of request.messages ?? []) add(message.content);
  return texts;
};

/** The events of one reply. @param {string} id @param {any[]} items */
function* events(id, items) {
  const usage = { input_tokens: 1, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  const message = { id, type: 'message', role: 'assistant', model: 'scripted', content: [], stop_reason: null, stop_sequence: null, usage };
  yield { type: 'message_start', message };
  for (const [index, item] of items.entries()) {
    if (item.type === 'text') {
      yield { type: 'content_block_start', index, content_block: { type: 'text', text: '' } };
      yield { type: 'content_block_delta', index, delta: { type: 'text_delta', text: item.text } };
    } else {
      yield { type: 'content_block_start', index, content_block: { ...item, input: {} } };
      yield { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: JSON.stringify(item.input) } };
    }
    yield { type: 'content_block_stop', index };
  }
  const reason = items.some((item) => item.type === 'tool_use') ? 'tool_use' : 'end_turn';
  yield { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 1 } };
  yield { type: 'message_stop' };
}

/** Starts the model. */
export async function startModel() {
  let script = [];
  let subScript = [];
  let requests = [];
  let subRequests = [];
  let count = 0;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const path = request.url?.split('?')[0] ?? '';
    if (path.endsWith('/count_tokens') || !path.endsWith('/messages')) {
      response.writeHead(200, { 'content-type': 'application/json' });
      return response.end('{"input_tokens":1,"data":[]}');
    }
    const asked = JSON.parse(body);
    const isAgent = (asked.tools ?? []).some((tool) => tool.name === 'Bash');
    const isOfSubtask = textsOf({ messages: asked.messages.slice(0, 1) }).some((text) => text.includes(SUBTASK));
    const [replies, seen] = isOfSubtask ? [subScript, subRequests] : [script, requests];
    if (isAgent) seen.push(asked);
    const items = isAgent ? [replies.shift() ?? say('nothing is left to say')].flat() : [say('ok')];
    const all = [...events(`msg_${++count}`, items)];
    if (!asked.stream) {
      const [{ message }] = all;
      response.writeHead(200, { 'content-type': 'application/json' });
      return response.end(JSON.stringify({ ...message, content: items, stop_reason: 'end_turn' }));
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of all) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    /** Sets the replies, and those to other agents; forgets the requests so far. @param {any[]} replies @param {any[]} [ofSubtask] */
    play(replies, ofSubtask = []) {
      script = [...replies];
      subScript = [...ofSubtask];
      requests = [];
      subRequests = [];
    },
    /** The texts that other agents read, one a request. */
    get ofSubtask() {
      return subRequests.map((request) => textsOf(request).join('\n'));
    },
    get requests() {
      return requests;
    },
    get left() {
      return script.length;
    },
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
