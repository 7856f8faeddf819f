/**
 * What the model is given to read because of the workflow, over a whole run: what users pay for.
 *
 * The same session on both sides: five phases, the agent stops twice in each before it goes on, so
 * that it is pushed ten times. Settings are each side's own.
 *
 * @module
 */

import { atMost, told } from "../measure.mjs";
import { figure } from "../statistics.mjs";
import { DESCRIPTION } from "../sidecar.mjs";

const PHASES = 5;
const PUSHES_PER_PHASE = 2;
const COUNTDOWN_MS = 3000;

/** Characters over a five-phase run with ten pushes. */
export async function* modelContext(bench) {
  for (const length of [500, 1500, 5000]) {
    const place = bench.projects.take({ phases: PHASES, instructions: length });
    const ours = await characters(new OurSession(await begin(bench, place)));
    const theirs = await characters(new PackageSession(await bench.package(place)));
    if (ours.pushes !== theirs.pushes || ours.pushes !== PHASES * PUSHES_PER_PHASE) {
      throw new Error(`pushed ${ours.pushes} and ${theirs.pushes} times`);
    }
    const share = figure([ours.characters / theirs.characters]);
    const name = `characters given to the model, phases of ${length} characters, of the package`;
    yield length === 1500 ? atMost(name, 0.35, share) : told(name, share);
  }
}

async function begin(bench, place) {
  const sidecar = await bench.sidecar(place, [], false);
  await sidecar.initialize(place, { clock: { virtual: { now: 1_700_000_000_000, seed: 1 } } });
  return sidecar;
}

/** Plays the session and counts. @param {OurSession | PackageSession} session */
async function characters(session) {
  let given = 0;
  let pushes = 0;
  const give = (/** @type {string[]} */ texts) => (given += texts.reduce((sum, text) => sum + text.length, 0));
  let prompt = await session.start();
  give([prompt]);
  for (let phase = 0; phase < PHASES; phase++) {
    if (phase === 0) give(await session.agentStarts(prompt));
    for (let push = 0; push < PUSHES_PER_PHASE; push++) {
      await session.usesATool();
      prompt = await session.agentStops();
      if (prompt === null) throw new Error(`not pushed in phase ${phase}`);
      pushes++;
      give([prompt]);
      give(await session.agentStarts(prompt));
    }
    await session.usesATool();
    give([await session.next()]);
  }
  return { characters: given, pushes };
}

const STOPPED = { messages: [{ role: "assistant", stopReason: "stop", content: [{ type: "text", text: "That is it." }] }] };

class OurSession {
  /** @param {import("../sidecar.mjs").Sidecar} sidecar */
  constructor(sidecar) {
    this.sidecar = sidecar;
  }

  async start() {
    await this.sidecar.call("hook/session_start", { context: { hasUI: false, branch: [] } });
    return said(await this.sidecar.call("command/run", { name: "workflow", arguments: `run ${DESCRIPTION}` }));
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
    const atOnce = said(await this.sidecar.call("hook/agent_end", { event: STOPPED }));
    return atOnce ?? said(await this.sidecar.call("clock/advance", { ms: COUNTDOWN_MS }));
  }

  async next() {
    const { content } = await this.sidecar.call("tool/execute", { name: "workflow_step", toolCallId: "s", arguments: { action: "next" } });
    return content.map(({ text }) => text).join("");
  }
}

/** What is said as the user. */
function said({ actions = [] }) {
  return actions.find((action) => action.type === "sendUserMessage")?.content ?? null;
}

class PackageSession {
  /** @param {import("../package.mjs").Package} side */
  constructor(side) {
    this.side = side;
  }

  async #said() {
    return (await this.side.order("effects")).find((effect) => effect.kind === "user")?.content ?? null;
  }

  async start() {
    await this.side.order("virtual");
    await this.side.order("hook", { name: "session_start", event: {} });
    await this.side.order("command", { name: "workflow", text: `run ${DESCRIPTION}` });
    return this.#said();
  }

  async agentStarts(prompt) {
    const given = await this.side.order("hook", { name: "before_agent_start", event: { prompt } });
    return given ? [given.message.content] : [];
  }

  async usesATool() {
    await this.side.order("hook", { name: "tool_call", event: { toolName: "read", input: {} } });
  }

  async agentStops() {
    await this.side.order("hook", { name: "agent_end", event: STOPPED });
    await this.side.order("advance", { ms: COUNTDOWN_MS });
    return this.#said();
  }

  async next() {
    const { content } = await this.side.order("step", { action: "next" });
    return content.map(({ text }) => text).join("");
  }
}
