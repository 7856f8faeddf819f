/**
 * A scripted model: an OpenAI-style chat-completions server on loopback.
 *
 * Answers the n-th request with the n-th reply of its script and keeps every request, so that what the
 * model saw can be looked at. A request without tools is no turn of the agent but a summary that the host wants:
 * it gets one, beside the script. It knows nothing of pi. As the HTTP proxy of the process under test it also
 * notices, and refuses, every attempt to reach another machine.
 */
import { createServer } from 'node:http';

/** @typedef {{name: string, args: Record<string, unknown>}} Call */

/**
 * @typedef {object} Reply
 * @property {string} [text]
 * @property {Call[]} [calls]                               several are made in one message
 * @property {'stop' | 'length' | 'content_filter'} [stop]  why a text ended; `stop` unless given
 * @property {{status: number, message: string}} [error]    an HTTP error instead of an answer
 * @property {boolean} [held]                               begins, then waits for `release`
 */

/** @typedef {'script' | 'summary' | 'beyond'} Source  where a reply came from */

/** @typedef {{messages: any[], tools: any[], source: Source}} Request */

/** A text. @param {string} text @returns {Reply} */
export const say = (text) => ({ text });

/** One tool call. @param {string} name @param {Record<string, unknown>} args @returns {Reply} */
export const call = (name, args) => ({ calls: [{ name, args }] });

/** Several tool calls in one message. @param {...Reply} replies @returns {Reply} */
export const together = (...replies) => ({ calls: replies.flatMap((reply) => reply.calls ?? []) });

/** An HTTP error. @param {number} status @param {string} message @returns {Reply} */
export const fail = (status, message) => ({ error: { status, message } });

/** The reply, but its second half only after `release`. @param {Reply} reply @returns {Reply} */
export const hold = (reply) => ({ ...reply, held: true });

/** The reply cut off by the token limit. @param {string} text @returns {Reply} */
export const cutOff = (text) => ({ text, stop: 'length' });

/** The answer to a request for a summary. */
export const SUMMARY = 'A summary of what was.';

const BEYOND_SCRIPT = 'Nothing more is scripted.';

export class ScriptedModel {
  /** Every request so far. @type {Request[]} */
  requests = [];

  /** Hosts that were asked for through the proxy: must stay empty. @type {string[]} */
  strayed = [];

  #script;
  #observe;
  /** @type {(() => void)[]} */
  #waiting = [];
  #played = 0;
  #calls = 0;
  #server = createServer((request, response) => {
    this.#serve(request, response).catch((error) => response.destroy(error));
  });

  /**
   * @param {Reply[]} script
   * @param {(request: Request, index: number) => void} [observe]  called as each request arrives
   */
  constructor(script, observe = () => {}) {
    this.#script = script;
    this.#observe = observe;
    this.#server.on('connect', (request, socket) => {
      this.strayed.push(request.url ?? '');
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    });
  }

  /** Listens on a free port of loopback and gives the server's address. @returns {Promise<string>} */
  async listen() {
    await new Promise((resolve) => this.#server.listen(0, '127.0.0.1', () => resolve(undefined)));
    this.#server.unref();
    const { port } = /** @type {import('node:net').AddressInfo} */ (this.#server.address());
    return `http://127.0.0.1:${port}`;
  }

  /** The number of replies that have begun and wait for `release`. */
  get holding() {
    return this.#waiting.length;
  }

  /** Waits until a reply is held. @param {number} [within] milliseconds */
  async heldReply(within = 20_000) {
    const deadline = Date.now() + within;
    while (this.holding === 0) {
      if (Date.now() > deadline) throw new Error('no reply was held');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** Lets every held reply end. */
  release() {
    for (const resume of this.#waiting.splice(0)) resume();
  }

  /** Ends every connection and stops listening. */
  close() {
    this.release();
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /**
   * @param {import('node:http').IncomingMessage} request
   * @param {import('node:http').ServerResponse} response
   */
  async #serve(request, response) {
    const url = request.url ?? '';
    if (!url.startsWith('/')) {
      this.strayed.push(url);
      response.writeHead(403).end();
      return;
    }
    const body = await read(request);
    if (request.method !== 'POST' || !url.endsWith('/chat/completions')) {
      response.writeHead(404).end();
      return;
    }
    const { messages, tools = [] } = JSON.parse(body);
    const { reply, source } = this.#next(tools);
    const seen = { messages, tools, source };
    this.requests.push(seen);
    this.#observe(seen, this.requests.length - 1);

    if (reply.error) {
      response.writeHead(reply.error.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: reply.error.message, type: 'scripted' } }));
      return;
    }
    await this.#stream(reply, response);
  }

  /** @param {any[]} tools @returns {{reply: Reply, source: Source}} */
  #next(tools) {
    if (tools.length === 0) return { reply: say(SUMMARY), source: 'summary' };
    const reply = this.#script[this.#played];
    this.#played += 1;
    return reply ? { reply, source: 'script' } : { reply: say(BEYOND_SCRIPT), source: 'beyond' };
  }

  /**
   * @param {Reply} reply
   * @param {import('node:http').ServerResponse} response
   */
  async #stream(reply, response) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (/** @type {object} */ delta, /** @type {string | null} */ finish = null) => {
      const chunk = { id: 'scripted', object: 'chat.completion.chunk', created: 0, model: 'scripted', choices: [{ index: 0, delta, finish_reason: finish }] };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    };
    const text = reply.text ?? '';
    const begun = reply.held ? text.slice(0, Math.ceil(text.length / 2)) : text;
    send({ role: 'assistant', content: begun });
    if (reply.held) {
      await new Promise((resolve) => this.#waiting.push(() => resolve(undefined)));
      if (response.destroyed) return;
      if (text.length > begun.length) send({ content: text.slice(begun.length) });
    }
    for (const [index, { name, args }] of (reply.calls ?? []).entries()) {
      this.#calls += 1;
      const made = { index, id: `call_${this.#calls}`, type: 'function', function: { name, arguments: JSON.stringify(args) } };
      send({ tool_calls: [made] });
    }
    send({}, reply.calls ? 'tool_calls' : (reply.stop ?? 'stop'));
    const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
    response.write(`data: ${JSON.stringify({ id: 'scripted', object: 'chat.completion.chunk', created: 0, model: 'scripted', choices: [], usage })}\n\n`);
    response.end('data: [DONE]\n\n');
  }
}

/** @param {import('node:http').IncomingMessage} request @returns {Promise<string>} */
async function read(request) {
  /** @type {Buffer[]} */
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
