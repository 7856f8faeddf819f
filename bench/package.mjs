/**
 * The npm package in a separate Node process, which measures times itself so that they do not include a pipe.
 *
 * @module
 */

import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { median } from "./statistics.mjs";
import { DESCRIPTION } from "./sidecar.mjs";

const PROGRAM = fileURLToPath(new URL("./package-process.mjs", import.meta.url));

export class Package {
  /** @param {import("./project.mjs").Directories} directories */
  static async begin(directories) {
    const side = new Package();
    side.process = fork(PROGRAM, { stdio: ["ignore", "ignore", "inherit", "ipc"], serialization: "advanced" });
    await side.order("open", { directories });
    return side;
  }

  /** @returns {Promise<any>} */
  order(order, fields = {}) {
    return new Promise((resolve, reject) => {
      const ended = () => reject(new Error("the package's process ended"));
      this.process.once("exit", ended);
      this.process.once("message", (/** @type {any} */ answer) => {
        this.process.off("exit", ended);
        if (answer.error) reject(new Error(answer.error));
        else resolve(answer.result);
      });
      this.process.send({ order, ...fields });
    });
  }

  /** Starts the workflow and returns its entries. */
  async run() {
    await this.order("hook", { name: "session_start", event: {} });
    await this.order("command", { name: "workflow", text: `run ${DESCRIPTION}` });
    const effects = await this.order("effects");
    return effects.filter((effect) => effect.kind === "entry").map(({ customType, data }) => ({ type: "custom", customType, data }));
  }

  /** Returns the microseconds per call. @param {any} what @param {{calls: number, batch?: number, check?: (result: any) => boolean}} how */
  async time(what, { calls, batch = 1, check = () => true }) {
    const { times, last } = await this.order("time", { what, calls, batch });
    if (!check(last)) throw new Error(`the package answered wrongly: ${JSON.stringify(last).slice(0, 500)}`);
    return median(times);
  }

  stop() {
    this.process.disconnect();
  }
}
