/**
 * One pi process: start, RPC mode, waiting, end.
 *
 * Independent of workflows and scenarios. Lines are split at LF bytes: a text may contain U+2028, where readline would
 * split too.
 */
import { spawn } from 'node:child_process';

/** A record of pi's RPC mode. @typedef {Record<string, any> & {type: string}} PiRecord */

/**
 * @typedef {object} Start
 * @property {import('./hosts.mjs').Host} host
 * @property {string[]} args                  the command line
 * @property {Record<string, string>} env     the whole environment
 * @property {string} cwd
 * @property {boolean} readsCommands               it reads commands; otherwise its standard input is closed at once
 * @property {(record: PiRecord) => void} [observe]  called with each record as it arrives
 */

const PATIENCE_MS = 20_000;
const QUIET_MS = 150;

/** The UI requests that wait for an answer. */
const DIALOGS = new Set(['confirm', 'select', 'input', 'editor']);

export class Pi {
  /** Every record so far, in the order of arrival. @type {PiRecord[]} */
  records = [];

  /** The output of pi that is not a record: in print mode, all of it. */
  stdout = '';
  stderr = '';

  /** The longest wait in milliseconds, unless a wait has another. */
  patience = PATIENCE_MS;

  /** The end of the process. @type {{code: number | null, signal: string | null} | null} */
  ended = null;

  #child;
  #host;
  #observe;
  #ids = 0;
  #mark = 0;
  #lastArrival = Date.now();
  /** @type {Buffer[]} */
  #partial = [];
  /** @type {(boolean | string | null)[]} */
  #answers = [];
  /** @type {Set<() => void>} */
  #watchers = new Set();
  #exit;

  /** @param {Start} start */
  constructor({ host, args, env, cwd, readsCommands, observe = () => {} }) {
    this.#host = host;
    this.#observe = observe;
    this.#child = spawn(host.node, [host.cli, ...args], { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#child.stdout.on('data', (bytes) => this.#take(bytes));
    this.#child.stderr.on('data', (bytes) => (this.stderr += bytes));
    this.#child.stdin.on('error', () => {}); // it may have ended, which is reported to whoever waits for an answer
    if (!readsCommands) this.#child.stdin.end();
    this.#exit = new Promise((resolve) => {
      this.#child.on('close', (code, signal) => {
        this.ended = { code, signal };
        this.#wake();
        resolve(this.ended);
      });
    });
  }

  get pid() {
    return /** @type {number} */ (this.#child.pid);
  }

  /** Records since the last prompt or command. */
  get latest() {
    return this.records.slice(this.#mark);
  }

  /**
   * Sends a command and waits for its response, successful or not.
   *
   * @param {{type: string} & Record<string, unknown>} command
   * @returns {Promise<PiRecord>}
   */
  async command(command) {
    this.#ids += 1;
    const id = `c${this.#ids}`;
    this.#mark = this.records.length;
    this.#write({ id, ...command });
    return this.until((record) => record.type === 'response' && record.id === id, `the response to ${command.type}`);
  }

  /**
   * Sends a prompt or a slash command, and waits until pi has accepted it.
   *
   * @param {string} message
   * @param {Record<string, unknown>} [options]
   */
  prompt(message, options = {}) {
    return this.command({ type: 'prompt', message, ...options });
  }

  /** Answers the next open dialog; null cancels it. @param {...(boolean | string | null)} answers */
  answer(...answers) {
    this.#answers.push(...answers);
  }

  /**
   * Waits for a record after the last prompt or command; it may have arrived already.
   *
   * @param {(record: PiRecord) => boolean} matches
   * @param {string} what   its description, for the error if it does not arrive
   * @param {number} [within]  milliseconds
   * @returns {Promise<PiRecord>}
   */
  async until(matches, what, within = this.patience) {
    /** @type {PiRecord | undefined} */
    let found;
    await this.#wait(() => (found = this.latest.find(matches)) !== undefined, what, within);
    return /** @type {PiRecord} */ (found);
  }

  /**
   * Waits until the run of the last prompt is over, or several runs if others follow by themselves.
   *
   * @param {number} [runs]
   * @param {number} [within]
   */
  async settled(runs = 1, within = this.patience) {
    const count = (/** @type {string} */ type) => this.latest.filter((record) => record.type === type).length;
    const over = () =>
      count('agent_end') >= runs && count('agent_end') >= count('agent_start') && (!this.#host.settles || this.#settledSinceEnd());
    await this.#wait(over, 'the end of the run', within);
    await this.quiet(within);
  }

  /**
   * Waits until pi sends no records for a moment.
   *
   * @param {number} [within]
   */
  async quiet(within = this.patience) {
    const deadline = Date.now() + within;
    while (Date.now() - this.#lastArrival < QUIET_MS) {
      if (Date.now() > deadline) throw this.#late('silence');
      await sleep(QUIET_MS / 3);
    }
  }

  /** Ends pi as a client does, by closing its standard input, and waits for its end. */
  async close() {
    this.#child.stdin.end();
    return this.#endWithin(5_000);
  }

  /** Sends a signal and waits for the end of the process. @param {NodeJS.Signals} signal */
  async kill(signal) {
    this.#child.kill(signal);
    return this.#endWithin(5_000);
  }

  /** Waits for the process to end by itself. @param {number} [within] */
  async end(within = this.patience) {
    await this.#wait(() => this.ended !== null, 'its end', within);
  }

  /** Kills the process if it still runs. */
  async destroy() {
    if (this.ended) return;
    this.#child.kill('SIGKILL');
    await this.#exit;
  }

  /** @param {number} within */
  async #endWithin(within) {
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), within);
    await this.#exit;
    clearTimeout(timer);
    return /** @type {NonNullable<Pi['ended']>} */ (this.ended);
  }

  #settledSinceEnd() {
    const latest = this.latest;
    const last = (/** @type {string} */ type) => latest.map((record) => record.type).lastIndexOf(type);
    return last('agent_settled') > last('agent_end');
  }

  /**
   * @param {() => boolean} holds
   * @param {string} what
   * @param {number} within
   */
  async #wait(holds, what, within) {
    if (holds()) return;
    await new Promise((resolve, reject) => {
      const check = () => {
        if (holds()) finish(undefined);
        else if (this.ended) finish(this.#late(what));
      };
      const finish = (/** @type {Error | undefined} */ error) => {
        clearTimeout(timer);
        this.#watchers.delete(check);
        if (error) reject(error);
        else resolve(undefined);
      };
      const timer = setTimeout(() => finish(this.#late(what)), within);
      this.#watchers.add(check);
    });
  }

  /** @param {string} what */
  #late(what) {
    const fate = this.ended ? `pi ended (${this.ended.code ?? this.ended.signal})` : 'pi is still running';
    const tail = this.records.slice(-12).map((record) => `  ${JSON.stringify(record).slice(0, 240)}`);
    return new Error([`waited in vain for ${what}; ${fate}; its last records:`, ...tail, this.stderr.slice(-1_000)].join('\n'));
  }

  /** @param {object} record */
  #write(record) {
    this.#child.stdin.write(`${JSON.stringify(record)}\n`);
  }

  /** @param {Buffer} bytes */
  #take(bytes) {
    let rest = bytes;
    for (let end = rest.indexOf(0x0a); end >= 0; end = rest.indexOf(0x0a)) {
      this.#partial.push(rest.subarray(0, end));
      this.#line(Buffer.concat(this.#partial.splice(0)).toString('utf8'));
      rest = rest.subarray(end + 1);
    }
    if (rest.length > 0) this.#partial.push(rest);
    this.#lastArrival = Date.now();
    this.#wake();
  }

  /** @param {string} line */
  #line(line) {
    const record = parse(line);
    if (!record) {
      this.stdout += `${line}\n`;
      return;
    }
    this.records.push(record);
    this.#observe(record);
    if (record.type === 'extension_ui_request' && DIALOGS.has(record.method)) this.#respond(record);
  }

  /** @param {PiRecord} request */
  #respond({ id, method }) {
    const answer = this.#answers.shift() ?? null;
    const said = answer === null ? { cancelled: true } : method === 'confirm' ? { confirmed: answer } : { value: answer };
    const record = { type: 'extension_ui_response', id, ...said };
    this.#observe(record);
    this.#write(record);
  }

  #wake() {
    for (const check of [...this.#watchers]) check();
  }
}

/** @param {number} ms */
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** @param {string} line @returns {PiRecord | undefined} */
function parse(line) {
  try {
    const record = JSON.parse(line);
    return typeof record === 'object' && typeof record?.type === 'string' ? record : undefined;
  } catch {
    return undefined;
  }
}
