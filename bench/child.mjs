/**
 * A child process that is spoken to in lines of JSON, as a host does it: what it answers, how long
 * that takes, what processor time and memory it uses. Knows no method.
 *
 * @module
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { quantile } from "./statistics.mjs";

/** The time in microseconds. */
export const now = () => performance.now() * 1000;

export class Child {
  /** @param {string[]} command @param {{cwd?: string}} [options] */
  constructor([program, ...words], options = {}) {
    this.process = spawn(program, words, { stdio: ["pipe", "pipe", "inherit"], ...options });
    this.ids = 0;
    /** @type {Buffer[]} */
    this.rest = [];
    /** Takes the next message. @type {(message: any) => void} */
    this.listener = () => {};
    this.process.stdin.on("error", () => {});
    this.process.stdout.on("data", (chunk) => this.#read(chunk));
  }

  #read(chunk) {
    for (let end; (end = chunk.indexOf(10)) >= 0; chunk = chunk.subarray(end + 1)) {
      const line = Buffer.concat([...this.rest, chunk.subarray(0, end)]);
      this.rest = [];
      const message = JSON.parse(line.toString("utf8"));
      if (message.method === undefined) this.listener(message);
    }
    if (chunk.length > 0) this.rest.push(chunk);
  }

  /** A request as a line. */
  line(method, params) {
    return `${JSON.stringify({ jsonrpc: "2.0", id: ++this.ids, method, params })}\n`;
  }

  /** Writes a line and gives the answer. @param {string | Buffer} line @returns {Promise<any>} */
  send(line) {
    return new Promise((resolve, reject) => {
      const ended = () => reject(new Error(`${this.process.spawnfile} ended`));
      this.process.once("exit", ended);
      this.listener = (answer) => {
        this.process.off("exit", ended);
        resolve(answer);
      };
      this.process.stdin.write(line);
    });
  }

  /** The result of a method. */
  async call(method, params) {
    const answer = await this.send(this.line(method, params));
    if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
    return answer.result;
  }

  /**
   * The same request again and again, the next when the last is answered.
   *
   * @param {Request} request @param {number} calls
   * @returns {Promise<Sample>}
   */
  async pingPong({ method, params, check }, calls) {
    const times = new Array(calls);
    const cpu = this.cpu();
    for (let i = 0; i < calls; i++) times[i] = await this.#timed(method, params, check);
    return { p50: quantile(times, 0.5), p99: quantile(times, 0.99), cpu: (this.cpu() - cpu) / calls };
  }

  /** From making the line to having read the answer. */
  #timed(method, params, check) {
    return new Promise((resolve, reject) => {
      const start = now();
      this.listener = (answer) => {
        const time = now() - start;
        if (check(answer.result)) resolve(time);
        else reject(new Error(`${method}: a wrong answer: ${JSON.stringify(answer).slice(0, 500)}`));
      };
      this.process.stdin.write(this.line(method, params));
    });
  }

  /** The same request many times, so many of them on their way at once; microseconds a call. @param {Request} request @returns {Promise<number>} */
  inFlight({ method, params, check }, calls, most) {
    return new Promise((resolve, reject) => {
      const start = now();
      let sent = 0;
      let answered = 0;
      const next = () => {
        sent++;
        this.process.stdin.write(this.line(method, params));
      };
      this.listener = (answer) => {
        if (!check(answer.result)) return reject(new Error(`${method}: a wrong answer`));
        if (++answered === calls) return resolve((now() - start) / calls);
        if (sent < calls) next();
      };
      for (let i = 0; i < Math.min(most, calls); i++) next();
    });
  }

  /** Processor time of the thread that answers, in microseconds. Only Linux tells. */
  cpu() {
    const told = proc(this.process.pid, "schedstat");
    return told ? Number(told.split(" ")[0]) / 1000 : NaN;
  }

  /** Memory in MiB: `VmRSS` now, `VmHWM` at most so far, `RssAnon` now but for what is mapped from files. Only Linux tells. */
  memory(name) {
    const told = proc(this.process.pid, "status")?.match(new RegExp(`^${name}:\\s+(\\d+)`, "m"));
    return told ? Number(told[1]) / 1024 : NaN;
  }

  async stop() {
    this.process.stdin.end();
    if (this.process.exitCode === null && this.process.signalCode === null) await once(this.process, "exit");
  }
}

function proc(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return null;
  }
}

/** @typedef {{method: string, params: any, check: (result: any) => boolean}} Request */
/** Microseconds a call. @typedef {{p50: number, p99: number, cpu: number}} Sample */
