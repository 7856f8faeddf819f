/**
 * A child process that exchanges lines of JSON with its host: its answers, its response times, its memory.
 *
 * @module
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { median } from "./statistics.mjs";

/** Returns the time in microseconds. */
export const now = () => performance.now() * 1000;

export class Child {
  /** @param {string[]} command @param {{cwd?: string}} [options] */
  constructor([program, ...args], options = {}) {
    this.process = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"], ...options });
    this.ids = 0;
    /** @type {Buffer[]} */
    this.rest = [];
    /** Receives the next answer. @type {(message: any) => void} */
    this.listener = () => {};
    /** Reports that there will be no answer. @type {(error: Error) => void} */
    this.fail = () => {};
    this.process.on("exit", () => this.fail(new Error(`${program} ended`)));
    this.process.stdin.on("error", () => {}); // The exit of the child is reported instead.
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

  /** Formats a request as a line. */
  line(method, params) {
    return `${JSON.stringify({ jsonrpc: "2.0", id: ++this.ids, method, params })}\n`;
  }

  /** Writes a line and returns the answer. @param {string | Buffer} line @returns {Promise<any>} */
  send(line) {
    return new Promise((resolve, reject) => {
      [this.listener, this.fail] = [resolve, reject];
      this.process.stdin.write(line);
    });
  }

  /** Calls a method and returns its result. */
  async call(method, params) {
    const answer = await this.send(this.line(method, params));
    if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
    return answer.result;
  }

  /**
   * Measures the median response time of a request in microseconds, from formatting the line to reading the answer;
   * without formatting if the request is `prepared`. A request that comes `first` each time is not measured.
   *
   * @param {Request} request @param {number} calls
   */
  async pingPong({ method, params, check, prepared = false, first }, calls) {
    const line = prepared ? Buffer.from(this.line(method, params)) : undefined;
    const times = [];
    for (let i = 0; i < calls; i++) {
      if (first) await this.call(first.method, first.params);
      const start = now();
      const answer = await this.send(line ?? this.line(method, params));
      times.push(now() - start);
      if (!check(answer.result)) throw new Error(`${method}: a wrong answer: ${JSON.stringify(answer).slice(0, 500)}`);
    }
    return median(times);
  }

  /** Returns the resident memory in MiB; NaN without /proc. */
  memory() {
    try {
      const status = readFileSync(`/proc/${this.process.pid}/status`, "utf8");
      return Number(/^VmRSS:\s+(\d+)/m.exec(status)[1]) / 1024;
    } catch {
      return NaN;
    }
  }

  async stop() {
    this.process.stdin.end();
    if (this.process.exitCode === null && this.process.signalCode === null) await once(this.process, "exit");
  }
}

/** @typedef {{method: string, params: any, check: (result: any) => boolean, prepared?: boolean, first?: {method: string, params: any}}} Request */
