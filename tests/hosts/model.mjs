/**
 * A scripted model: an OpenAI-style chat-completions server on loopback.
 *
 * Answers the n-th request with the n-th reply of its script and records every request. A request without tools is not
 * a turn of the agent but asks for a summary, which is answered outside of the script. Independent of pi. As the HTTP
 * proxy of the process under test it also records and refuses every attempt to reach another machine.
 */
import { createServer } from 'node:http';

/** @typedef {{name: string, args: Record<string, unknown>}} Call */

/**
 * @typedef {object} Reply
 * @property {string} [text]
 * @property {Call[]} [calls]                               several in one message
 * @property {'stop' | 'length' | 'content_filter'} [stop]  the stop reason of a text; default `stop`
 * @property {{status: number, message: string}} [error]    an HTTP error instead of an answer
 * @property {boolean} [isPaused]                           begins, then waits for `release`
 */

/** @typedef {'script' | 'summary' | 'beyond'} Source  the origin of a reply */

/** @typedef {{messages: any[], tools: any[], source: Source}} Request */

/** A text. @param {string} text @returns {Reply} */
export const say = (text) => ({ text });

/** One tool call. @param {string} name @param {Record<string, unknown>} args @returns {Reply} */
export const call = (name, args) => ({ calls: [{ name, args }] });

/** Several tool calls in one message. @param {...Reply} replies @returns {Reply} */
export const together = (...replies) => ({ calls: replies.flatMap((reply) => reply.calls ?? []) });

/** An HTTP error. @param {number} status @param {string} message @returns {Reply} */
export const fail = (status, message) => ({ error: { status, message } });

/** Delays the second half of a reply until `release`. @param {Reply} reply @returns {Reply} */
export const pause = (reply) => ({ ...reply, isPaused: true });

/** A reply that the token limit cuts off. @param {string} text @returns {Reply} */
export const cutOff = (text) => ({ text, stop: 'length' });

/** The answer to a request for a summary. */
export const SUMMARY = 'A summary of what was.';

const BEYOND_SCRIPT = 'Nothing more is scripted.';

export class ScriptedModel {
  /** Every request so far. @type {Request[]} */
  requests = [];

  /** Addresses requested through the proxy: must stay empty. @type {string[]} */
  outsideRequests = [];

  /** The tokens of each request, as the model says. */
  used = 10;

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
      this.outsideRequests.push(request.url ?? '');
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    });
  }

  /** Listens on a free port of loopback and returns the server's address. @returns {Promise<string>} */
  async listen() {
    await new Promise((resolve) => this.#server.listen(0, '127.0.0.1', () => resolve(undefined)));
    this.#server.unref();
    const { port } = /** @type {import('node:net').AddressInfo} */ (this.#server.address());
    return `http://127.0.0.1:${port}`;
  }

  /** Begins another script, and forgets the requests so far. @param {Reply[]} script */
  play(script) {
    this.release();
    this.#script = script;
    this.#played = 0;
    this.requests = [];
  }

  /** The number of replies that have begun and wait for `release`. */
  get pausedCount() {
    return this.#waiting.length;
  }

  /** Waits until a reply is paused. @param {number} [within] milliseconds */
  async pausedReply(within = 20_000) {
    const deadline = Date.now() + within;
    while (this.pausedCount === 0) {
      if (Date.now() > deadline) throw new Error('no reply was paused');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** Completes every paused reply. */
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
      this.outsideRequests.push(url);
      response.writeHead(403).end();
      return;
    }
    const body = await read(request);
    if (request.method !== 'POST' || !url.endsWith('/chat/completions')) {
      response.writeHead(404).end();
      return;
    }
    const { messages, tools = [] } = JSON.parse(body);
    const { reply, source } = this.#next(tools, messages);
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

  /** @param {any[]} tools @param {any[]} messages @returns {{reply: Reply, source: Source}} */
  #next(tools, messages) {
    // Copilot CLI sends its tools with this, too.
    const asksForSummary = /^Please create a detailed summary/.test(messages.at(-1)?.content ?? '');
    if (tools.length === 0 || asksForSummary) return { reply: say(SUMMARY), source: 'summary' };
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
    const begun = reply.isPaused ? text.slice(0, Math.ceil(text.length / 2)) : text;
    send({ role: 'assistant', content: begun });
    if (reply.isPaused) {
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
    const usage = { prompt_tokens: this.used, completion_tokens: 10, total_tokens: this.used + 10 };
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
