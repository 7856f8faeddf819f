/**
 * The number of characters that the model reads because of the workflow, over a whole run: a cost for the user.
 *
 * Both sides play the same session: five phases, and two reminders in each, because the agent stops early. Settings are the
 * defaults of each side.
 *
 * @module
 */

import { DESCRIPTION } from "./sidecar.mjs";

const PHASES = 5;
const REMINDERS_PER_PHASE = 2;
const COUNTDOWN_MS = 3000;

/** Returns the number of characters with the sidecar, relative to the package. @param {import("./measure.mjs").Bench} bench */
export async function charactersForTheModel(bench) {
  const directories = bench.projects.take({ phases: PHASES, instructions: 1500 });
  const virtual = { clock: { virtual: { now: 1_700_000_000_000, seed: 1 } } };
  const ours = await play(new OurSession(await bench.sidecar(directories, { initialize: virtual })));
  const theirs = await play(new PackageSession(await bench.package(directories)));
  return ours / theirs;
}

/** Plays the session and counts the characters. @param {OurSession | PackageSession} session */
async function play(session) {
  let characters = 0;
  const read = (/** @type {string[]} */ texts) => (characters += texts.reduce((sum, text) => sum + text.length, 0));
  let prompt = await session.start();
  read([prompt]);
  for (let phase = 0; phase < PHASES; phase++) {
    if (phase === 0) read(await session.agentStarts(prompt));
    for (let reminder = 0; reminder < REMINDERS_PER_PHASE; reminder++) {
      await session.usesATool();
      prompt = await session.agentStops();
      if (prompt === null) throw new Error(`no reminder in phase ${phase}`);
      read([prompt]);
      read(await session.agentStarts(prompt));
    }
    await session.usesATool();
    read([await session.next()]);
  }
  return characters;
}

const STOPPED = { messages: [{ role: "assistant", stopReason: "stop", content: [{ type: "text", text: "That is it." }] }] };

class OurSession {
  /** @param {import("./sidecar.mjs").Sidecar} sidecar */
  constructor(sidecar) {
    this.sidecar = sidecar;
  }

  async start() {
    await this.sidecar.call("hook/session_start", { context: { hasUI: false, branch: [] } });
    return userMessage(await this.sidecar.call("command/run", { name: "workflow", arguments: `run ${DESCRIPTION}` }));
  }

  async agentStarts(prompt) {
    const { inject } = await this.sidecar.call("hook/before_agent_start", { event: { prompt } });
    return inject ? [inject.content] : [];
  }

  async usesATool() {
    await this.sidecar.call("hook/turn_start", { event: { turnIndex: 0 } });
    await this.sidecar.call("hook/tool_call", { event: { toolName: "read", toolCallId: "c", input: {} } });
    await this.sidecar.call("hook/turn_end", { event: { turnIndex: 0 } });
  }

  async agentStops() {
    const atOnce = userMessage(await this.sidecar.call("hook/agent_end", { event: STOPPED }));
    return atOnce ?? userMessage(await this.sidecar.call("clock/advance", { ms: COUNTDOWN_MS }));
  }

  async next() {
    const { content } = await this.sidecar.call("tool/execute", { name: "workflow_step", toolCallId: "s", arguments: { action: "next" } });
    return content.map(({ text }) => text).join("");
  }
}

/** Returns the text that the agent receives as a message of the user. */
function userMessage({ actions = [] }) {
  return actions.find((action) => action.type === "sendUserMessage")?.content ?? null;
}

class PackageSession {
  /** @param {import("./package.mjs").Package} side */
  constructor(side) {
    this.side = side;
  }

  async #userMessage() {
    return (await this.side.order("effects")).find((effect) => effect.kind === "user")?.content ?? null;
  }

  async start() {
    await this.side.order("virtual");
    await this.side.order("hook", { name: "session_start", event: {} });
    await this.side.order("command", { name: "workflow", text: `run ${DESCRIPTION}` });
    return this.#userMessage();
  }

  async agentStarts(prompt) {
    const answer = await this.side.order("hook", { name: "before_agent_start", event: { prompt } });
    return answer ? [answer.message.content] : [];
  }

  async usesATool() {
    await this.side.order("hook", { name: "tool_call", event: { toolName: "read", input: {} } });
  }

  async agentStops() {
    await this.side.order("hook", { name: "agent_end", event: STOPPED });
    await this.side.order("advance", { ms: COUNTDOWN_MS });
    return this.#userMessage();
  }

  async next() {
    const { content } = await this.side.order("step", { action: "next" });
    return content.map(({ text }) => text).join("");
  }
}
