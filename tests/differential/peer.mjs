/**
 * The package's side: starts peer-process.mjs, gives it operations one at a time, and replaces the
 * process when an answer does not come (the package hangs, or its heap is full).
 *
 * @module
 */

import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("./peer-process.mjs", import.meta.url));

export class Peer {
  /** @param {{deadlineMs?: number, heapMb?: number}} [limits] */
  constructor({ deadlineMs = 5000, heapMb = 160 } = {}) {
    this.deadlineMs = deadlineMs;
    this.heapMb = heapMb;
    this.child = null;
  }

  async start() {
    this.child = fork(PROGRAM, { execArgv: [`--max-old-space-size=${this.heapMb}`], stdio: ["ignore", "ignore", "ignore", "ipc"] });
    await this.reply(60_000);
  }

  /** The next message of the child, or how it died. @param {number} deadlineMs @returns {Promise<any>} */
  reply(deadlineMs) {
    const child = this.child;
    return new Promise((resolve) => {
      const done = (value) => {
        clearTimeout(timer);
        child.off("message", done);
        child.off("exit", exited);
        resolve(value);
      };
      const exited = () => done({ died: "crashed" });
      const timer = setTimeout(() => done({ died: "hung" }), deadlineMs);
      child.on("message", done);
      child.on("exit", exited);
    });
  }

  /** @param {any} message */
  async ask(message) {
    this.child.send(message);
    const reply = await this.reply(this.deadlineMs);
    if (reply.died) this.stop();
    return reply;
  }

  /** Begins a new session in the same process. @param {{cwd: string, agentDir: string, now: number, seed: number}} place */
  async open(place) {
    if (!this.child) await this.start();
    await this.ask({ open: place });
  }

  /**
   * @param {import("./types.mjs").Operation} operation
   * @param {import("./types.mjs").Entry[]} [branch]   the session's entries, for a session event
   * @param {string} [version]    names what lies on the disk; what is told of the definitions is kept by it
   * @returns {Promise<import("./types.mjs").Outcome>}
   */
  async apply(operation, branch, version) {
    const reply = await this.ask({ operation, branch, version });
    return { effects: [], ...reply };
  }

  /** What the package makes of each tier's directories. @param {Record<string, string>} directories by tier @returns {Promise<any | null>} */
  async survey(directories) {
    return (await this.ask({ survey: directories })).found ?? null;
  }

  stop() {
    this.child?.kill("SIGKILL");
    this.child = null;
  }
}
