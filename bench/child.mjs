/**
 * A child process that exchanges lines of JSON with its host: its answers, its response times, its memory.
 *
 * @module
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { median } from "./statistics.mjs";

/** The time in microseconds. */
export const now = () => performance.now() * 1000;

export class Child {
  /** @param {string[]} command @param {{cwd?: string}} [options] */
  constructor([program, ...words], options = {}) {
    this.process = spawn(program, words, { stdio: ["pipe", "pipe", "inherit"], ...options });
    this.ids = 0;
    /** @type {Buffer[]} */
    this.rest = [];
    /** Receives the next answer. @type {(message: any) => void} */
    this.listener = () => {};
    /** Reports that no answer comes any more. @type {(error: Error) => void} */
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

  /** A request as a line. */
  line(method, params) {
    return `${JSON.stringify({ jsonrpc: "2.0", id: ++this.ids, method, params })}\n`;
  }

  /** Writes a line and gives the answer. @param {string | Buffer} line @returns {Promise<any>} */
  send(line) {
    return new Promise((resolve, reject) => {
      [this.listener, this.fail] = [resolve, reject];
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
   * The median response time of a request in microseconds, from making the line to having read the answer; without making
   * the line where the request is `prepared`.
   *
   * @param {Request} request @param {number} calls
   */
  async pingPong({ method, params, check, prepared = false }, calls) {
    const line = prepared ? Buffer.from(this.line(method, params)) : undefined;
    const times = [];
    for (let i = 0; i < calls; i++) {
      const start = now();
      const answer = await this.send(line ?? this.line(method, params));
      times.push(now() - start);
      if (!check(answer.result)) throw new Error(`${method}: a wrong answer: ${JSON.stringify(answer).slice(0, 500)}`);
    }
    return median(times);
  }

  /** Resident memory in MiB; NaN where there is no /proc. */
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

/** @typedef {{method: string, params: any, check: (result: any) => boolean, prepared?: boolean}} Request */
