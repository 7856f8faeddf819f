/**
 * The package's side: starts package-process.mjs, sends it operations one at a time, and replaces the
 * process if there is no answer (the package hangs, or its heap is full).
 *
 * @module
 */

import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("./package-process.mjs", import.meta.url));

const DEADLINE_MS = 5000;
const HEAP_MB = 160;

export class PackageHost {
  constructor() {
    this.child = null;
  }

  async start() {
    this.child = fork(PROGRAM, { execArgv: [`--max-old-space-size=${HEAP_MB}`], stdio: ["ignore", "ignore", "ignore", "ipc"] });
    await this.reply(60_000);
  }

  /** Returns the next message of the child, or its failure. @param {number} deadlineMs @returns {Promise<any>} */
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
    const reply = await this.reply(DEADLINE_MS);
    if (reply.died) this.stop();
    return reply;
  }

  /** Starts a new session in the same process. @param {{cwd: string, agentDir: string, now: number, seed: number}} options */
  async open(options) {
    if (!this.child) await this.start();
    await this.ask({ open: options });
  }

  /**
   * @param {import("./types.mjs").Operation} operation
   * @param {import("./types.mjs").Entry[]} [branch]   the session's entries, for a session event
   * @param {string} [version]    the version of the files on disk, by which loaded definitions are cached
   * @returns {Promise<import("./types.mjs").Outcome>}
   */
  async apply(operation, branch, version) {
    const reply = await this.ask({ operation, branch, version });
    return { effects: [], ...reply };
  }

  /** Returns the package's reading of each tier's directories. @param {Record<string, string>} directories by tier @returns {Promise<any | null>} */
  async survey(directories) {
    return (await this.ask({ survey: directories })).found ?? null;
  }

  stop() {
    this.child?.kill("SIGKILL");
    this.child = null;
  }
}
