/**
 * The published package under a mock pi host, in a separate process: some definitions make the
 * package loop until its heap is full, which must fail one case and not the run.
 *
 * Handles one message per operation and answers each with an Outcome. Independent of cases and
 * differences.
 *
 * @module
 */

import { VirtualClock } from "./clock.mjs";
import { Session, source } from "./package-session.mjs";
import { Random } from "./random.mjs";

const { loadWorkflows, loadWorkflowsFromDir, validateWorkflowDefinition } = await source("config/index.ts");
const { reconstructState } = await source("state.ts");

console.warn = () => {};
const clock = new VirtualClock();
clock.install();

/** @type {Session} */
let session;

/** @param {{cwd: string, agentDir: string, now: number, seed: number}} options */
function open({ now, seed, ...options }) {
  const random = new Random(seed);
  clock.reset(now, () => (random.chance(0.1) ? 0.5 : random.next()));
  session = new Session(options);
}

/** Returns the definitions as the package resolves them, flattened for the channel. */
function loaded(cwd) {
  const phase = (entry) =>
    "subworkflow" in entry
      ? { ref: entry.workflowKey }
      : {
          id: entry.id,
          name: entry.name,
          emoji: entry.emoji,
          instructions: entry.instructions,
          profiles: entry.availableProfiles ?? null,
          blacklist: entry.tools?.blacklist ?? null,
          whitelist: entry.tools?.whitelist ?? null,
        };
  return Object.entries(loadWorkflows(cwd)).map(([key, w]) => ({
    ...w,
    key,
    show: w.show ?? "user",
    loopable: w.loopable ?? true,
    phases: w.phases.map(phase),
  }));
}

const SESSION_EVENTS = new Set(["session_start", "session_tree", "session_switch"]);

/** Returns the package's reading of each directory of one tier, without the others. */
function survey(directory) {
  const workflows = Object.entries(loadWorkflowsFromDir(directory));
  return Object.fromEntries(
    workflows.map(([key, w]) => {
      const refs = w.phases.filter((entry) => "subworkflow" in entry).map((entry) => entry.workflowKey);
      return [key, { error: validateWorkflowDefinition(key, w), refs, commandName: w.commandName, show: w.show ?? "user" }];
    }),
  );
}

/** Performs one operation; results and errors are effects too. */
async function perform(operation) {
  const { op, event = {} } = operation;
  switch (op) {
    case "session_start":
    case "session_tree":
      await session.hook(op, event);
      break;
    case "before_agent_start": {
      const message = (await session.hook(op, event))?.message;
      if (message) session.record({ kind: "inject", ...message });
      break;
    }
    case "tool_call": {
      const verdict = await session.hook(op, { ...event, toolName: operation.toolName, input: operation.input });
      if (verdict?.block) session.record({ kind: "block", reason: verdict.reason });
      break;
    }
    case "agent_end":
      await session.hook(op, { messages: operation.messages });
      break;
    case "step": {
      const tool = session.tools.get("workflow_step");
      const result = await tool.execute("call", operation.arguments, undefined, undefined, session.context());
      session.record({ kind: "result", ...(result ?? { content: null }) });
      break;
    }
    case "command":
      await session.commands.get(operation.name).handler(operation.arguments, session.context());
      break;
    case "complete": {
      const items = await session.commands.get(operation.name).getArgumentCompletions?.(operation.prefix);
      session.record({ kind: "complete", items: items ?? null });
      break;
    }
    case "advance":
      clock.advance(operation.ms, (error) => session.record({ kind: "throws", text: String(error) }));
      break;
    case "drop_timers":
      clock.timers.clear();
      break;
    default:
      await session.hook(op, event);
  }
}

const isStart = ({ op, name }) => op === "command" && name === "workflow";

/** Returns true for operations that make the package load its definitions. */
function loads(operation) {
  return SESSION_EVENTS.has(operation.op) || (isStart(operation) && /^\s*\S+\s+\S/.test(operation.arguments));
}

/** The last result of `loaded`, with the version of the files. */
let known = { version: undefined, workflows: [] };

function loadedOf(version) {
  if (version === undefined || version !== known.version) known = { version, workflows: loaded(session.cwd) };
  return known.workflows;
}

async function answer({ operation, branch, version }) {
  session.effects = [];
  session.hasUI = operation.hasUI ?? true;
  session.answer = operation.confirm ?? false;
  if (branch) session.branch = branch;
  try {
    await perform(operation);
  } catch (error) {
    session.record({ kind: "throws", text: `${error?.name}: ${error?.message}` });
  }
  const lists = operation.op === "complete" || isStart(operation);
  const workflows = loads(operation) || lists ? loadedOf(version) : undefined;
  return {
    effects: session.effects,
    timers: clock.kinds(),
    ...(loads(operation) ? { loaded: workflows } : {}),
    ...(lists ? { listed: workflows } : {}),
    ...(SESSION_EVENTS.has(operation.op) ? { state: restored() } : {}),
  };
}

function restored() {
  try {
    return reconstructState(session.context());
  } catch {
    return null;
  }
}

process.on("message", async (/** @type {any} */ message) => {
  if (message.open) {
    open(message.open);
    process.send({ ready: true });
  } else if (message.survey) {
    process.send({ found: Object.fromEntries(Object.entries(message.survey).map(([tier, directory]) => [tier, survey(directory)])) });
  } else {
    process.send(await answer(message));
  }
});
process.on("disconnect", () => process.exit(0));
process.send({ ready: true });
