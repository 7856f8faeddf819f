/**
 * The npm package in the process of a Node host, and the times of its handlers. Handles one request
 * at a time of `package.mjs`.
 *
 * @module
 */

import { Session } from "../tests/differential/package-session.mjs";
import { VirtualClock } from "../tests/differential/clock.mjs";

console.warn = () => {};
const clock = new VirtualClock();

/** @type {Session} */
let session;

/** @type {Record<string, (order: any) => any>} */
const ORDERS = {
  open: ({ directories }) => {
    process.chdir(directories.cwd);
    session = new Session(directories);
    return null;
  },
  hook: ({ name, event }) => session.hook(name, event),
  step: ({ action }) => session.tools.get("workflow_step").execute("call", { action }, undefined, undefined, session.context()),
  command: ({ name, text }) => session.commands.get(name).handler(text, session.context()),
  branch: ({ branch }) => {
    session.branch = branch;
    return null;
  },
  virtual: () => {
    clock.install();
    clock.reset(1_700_000_000_000, () => 0.5);
    return null;
  },
  advance: ({ ms }) => clock.advance(ms, (error) => console.error(error)),
  effects: () => session.effects.splice(0),
  time: async ({ what, calls, batch }) => {
    const run = handler(what);
    const times = [];
    let last;
    for (let i = 0; i < calls; i++) {
      const start = performance.now();
      for (let j = 0; j < batch; j++) last = run();
      times.push(((performance.now() - start) * 1000) / batch);
    }
    session.effects.length = 0;
    return { times, last: (await last) ?? null };
  },
};

/** @param {{hook?: string, event?: any, complete?: string}} what @returns {() => any} */
function handler({ hook, event, complete }) {
  if (complete !== undefined) {
    const command = session.commands.get("workflow");
    return () => command.getArgumentCompletions(complete);
  }
  const context = session.context();
  const run = session.handlers.get(hook);
  return () => run(event, context);
}

process.on("message", async (/** @type {any} */ order) => {
  try {
    process.send({ result: (await ORDERS[order.order](order)) ?? null });
  } catch (error) {
    process.send({ error: String(error?.stack ?? error) });
  }
});
process.on("disconnect", () => process.exit(0));
