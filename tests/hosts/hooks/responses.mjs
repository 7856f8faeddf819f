/**
 * A scripted model that speaks OpenAI's Responses API on loopback.
 *
 * Answers the n-th request of a session with the n-th reply of its script, and records every request.
 */
import { createServer } from 'node:http';

/** A text. @param {string} text */
export const say = (text) => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text }],
});

let calls = 0;

/** A call of a function. @param {string} name @param {object} args @param {string} [namespace] */
export const call = (name, args, namespace) => ({
  type: 'function_call',
  call_id: `call_${++calls}`,
  name,
  ...(namespace ? { namespace } : {}),
  arguments: JSON.stringify(args),
});

/** A call of a tool with a text of its own grammar. @param {string} name @param {string} input */
export const callWithText = (name, input) => ({
  type: 'custom_tool_call',
  call_id: `call_${++calls}`,
  name,
  input,
});

/** The texts that the model gets in a request, in order. @param {any} request */
export const textsOf = (request) => {
  const texts = [];
  for (const item of request.input ?? []) {
    if (typeof item.output === 'string') texts.push(item.output);
    for (const part of Array.isArray(item.output) ? item.output : []) texts.push(part.text ?? '');
    for (const part of Array.isArray(item.content) ? item.content : []) texts.push(part.text ?? '');
  }
  return texts;
};

/** Starts the model. */
export async function startModel() {
  let script = [];
  let requests = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    if (!request.url?.endsWith('/responses')) {
      response.writeHead(200, { 'content-type': 'application/json' });
      return response.end('{"data":[],"models":[]}');
    }
    requests.push(JSON.parse(body));
    // A reply may be only for requests that contain a text.
    const texts = JSON.stringify(requests.at(-1).input);
    const own = script.findIndex(({ only }) => only !== undefined && texts.includes(only));
    const next = own < 0 ? script.findIndex(({ only }) => only === undefined) : own;
    const [{ only, ...reply }] = next < 0 ? [say('nothing is left to say')] : script.splice(next, 1);
    const items = [reply];
    const id = `resp_${requests.length}`;
    const events = [
      { type: 'response.created', response: { id } },
      ...items.map((item, index) => ({
        type: 'response.output_item.done',
        output_index: index,
        item: { id: `item_${requests.length}_${index}`, status: 'completed', ...item },
      })),
      {
        type: 'response.completed',
        response: {
          id,
          usage: {
            input_tokens: 1,
            input_tokens_details: null,
            output_tokens: 1,
            output_tokens_details: null,
            total_tokens: 2,
          },
        },
      },
    ];
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}/v1`,
    /** Sets the replies, and forgets the requests so far. @param {any[]} replies */
    play(replies) {
      script = [...replies];
      requests = [];
    },
    /** All texts of the last request. */
    lastTexts: () => textsOf(requests.at(-1) ?? {}),
    get requests() {
      return requests;
    },
    get left() {
      return script.length;
    },
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}
