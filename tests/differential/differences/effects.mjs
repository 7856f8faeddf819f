/**
 * Intended differences in effects. A rule rewrites one step: the package's effects into those that ours
 * must have (`expected`), or removes additional effects of ours (`actual`). The result is compared
 * exactly, so a rule that applies must also be fulfilled.
 *
 * @module
 */

import { contextOf, shortened, toolsLine, withAllowedTools } from "./context.mjs";
import { makeVisible, visible } from "./visible.mjs";
import { checklist, contextVariables, drilled, entryAt, fill, follows, locationOf, statusText } from "../navigation.mjs";

/**
 * @typedef {object} Step
 * @property {import("../types.mjs").Operation} operation
 * @property {import("../session-model.mjs").SessionModel} session   as it was before the operation
 * @property {import("../types.mjs").Effect[]} expected
 * @property {import("../types.mjs").Effect[]} actual
 * @property {any[]} diagnostics    ours
 * @property {import("../navigation.mjs").Workflows} workflows   in force after the operation
 * @property {any[]} startable      the workflows that can be started now, in the order of ours
 * @property {any[]} startableAtLastRead  those when ours last read the files
 * @property {any} restored        the state that a session event restored
 * @property {boolean} packageDiverged   the package's state differs now, and must be reset
 * @property {boolean} dropTimers    the package's countdown must be removed
 * @property {boolean} wordingIsOurs  a text in `expected` is that of ours, because its wording is free
 * @property {import("./context.mjs").SentContext} sent  the context in the conversation, after the operation
 * @property {any} counters             the counters of reminders, after the operation
 */

/** @typedef {{id: string, says: string, rule: (step: Step) => boolean | void}} EffectDifference  the rule returns true if it changed something */

const isStep = (step, ...actions) => step.operation.op === "step" && (actions.length === 0 || actions.includes(step.operation.arguments.action));
const isCommand = (step, name) => step.operation.op === "command" && step.operation.name === name;
const stateEntry = (effects) => effects.find((e) => e.kind === "entry" && e.customType === "workflow:state");
const find = (effects, kind) => effects.find((e) => e.kind === kind);
const started = (step) => isCommand(step, "workflow") && stateEntry(step.expected) !== undefined;

/** Sets a field, and returns true if that changed it. */
function replaceField(object, field, value) {
  const changed = object !== undefined && object[field] !== value;
  if (changed) object[field] = value;
  return changed;
}

/** Returns the state before and after an operation of `workflow_step`. */
function statesAround(step) {
  const entry = stateEntry(step.expected);
  return { before: step.session.state, after: entry ? entry.data : step.session.state };
}

/** The beginning of a status line that says why the run does not go on. */
const PAUSE_NOTE = /^[⏸⏳✓] .*? · /su;

/** The default messages about the end of a run. */
const ANNOUNCEMENT = /^[✅❌] \*\*[^]* (Complete|Cancelled)\*\*\n\n\*\*Task:\*\* [^]*\n\*\*Task ID:\*\* \S*(\n\*\*Phases completed:\*\* \d+)?$/u;
/** The end of the same messages of ours. */
const SUMMARY = /\n\nTime: \d+ (s|min|h \d+ min|day \d+ h|days \d+ h)( · blocked calls: [1-9]\d*)?$/;

/** @type {EffectDifference[]} */
export const EXPECTED = [
  {
    id: "A04",
    says: "the mark of a first cancel is never stored",
    rule: ({ expected }) => {
      const data = stateEntry(expected)?.data;
      return data !== undefined && "_cancelPending" in data && delete data._cancelPending;
    },
  },
  {
    id: "A07",
    says: "a run that is done keeps the root's last index",
    rule: (step) => {
      const data = stateEntry(step.expected)?.data;
      if (!data || data.active || step.operation.op === "command") return false;
      if (step.operation.op === "agent_end") return replaceField(data.currentPath[0], "phaseIndex", step.session.state.currentPath[0].phaseIndex);
      const [root] = data.currentPath;
      const last = step.workflows[root.workflowKey]?.phases.length - 1;
      return root.phaseIndex === last + 1 && replaceField(root, "phaseIndex", last);
    },
  },
  {
    id: "A01",
    says: "the entry of an announced completion says completionNotified",
    rule: (step) => !step.session.state?.cancelled && announcedEntry(step),
  },
  {
    id: "A02",
    says: "a cancelled run that is announced gets the same entry",
    rule: (step) => step.session.state?.cancelled === true && announcedEntry(step),
  },
  {
    id: "B01",
    says: "the entry of /cancel-workflow says completionNotified",
    rule: (step) => isCommand(step, "cancel-workflow") && stateEntry(step.expected) !== undefined && replaceField(stateEntry(step.expected).data, "completionNotified", true),
  },
  {
    id: "B40",
    says: "an end is stored before it is announced",
    rule: ({ operation, expected }) => {
      const at = expected.findIndex((e) => e.kind === "entry");
      if (operation.op !== "agent_end" || at <= 0) return false;
      expected.unshift(...expected.splice(at, 1));
      return true;
    },
  },
  {
    id: "B20",
    says: "a run of a key that every object inherits, its definition gone, is asked about like any other",
    rule: ({ operation, expected, session }) => {
      const { state } = session;
      const throws = operation.op === "command" && operation.name === "workflow" && !operation.confirm && expected[0]?.kind === "throws";
      if (!throws || !expected[0].text.startsWith("TypeError") || !state?.active || !(state.workflowKey in Object.prototype)) return false;
      const message = `Phase: unknown\nTask: ${state.taskDescription}\n\nStart a new one?`;
      expected.splice(0, 1, { kind: "confirm", title: "Workflow already active", message, asked: true });
      return true;
    },
  },
  {
    id: "B35",
    says: "definitions are adopted only by a start: until then the run stays in its phase",
    rule: (step) => {
      const confirm = isCommand(step, "workflow") ? find(step.expected, "confirm") : undefined;
      if (!confirm) return false;
      const name = step.session.location?.phase.name ?? "unknown";
      const task = confirm.message.slice(confirm.message.indexOf(`\nTask: ${step.session.state.taskDescription}\n\n`));
      return replaceField(confirm, "message", `Phase: ${name}${task}`);
    },
  },
  {
    id: "B36",
    says: "a run that ended is announced under its key when its definition is gone",
    rule: (step) => {
      const { operation, expected, session } = step;
      const { state } = session;
      if (operation.op !== "agent_end" || !state || state.active || session.workflows[state.workflowKey] || expected.length > 0) return false;
      const head = state.cancelled ? `❌ **${state.workflowKey} Cancelled**` : `✅ **${state.workflowKey} Complete**`;
      const count = state.cancelled ? "" : `\n**Phases completed:** ${state.currentPath[0].phaseIndex + 1}`;
      expected.push(
        { kind: "entry", customType: "workflow:state", data: { ...state, completionNotified: true } },
        { kind: "message", customType: "workflow:complete", content: `${head}\n\n**Task:** ${state.taskDescription}\n**Task ID:** ${state.taskId}${count}`, display: true, options: { triggerTurn: false } },
        { kind: "status", key: "workflow", text: null },
      );
      return true;
    },
  },
  {
    id: "B07",
    says: "loop enters down to the first phase",
    rule: (step) => {
      const { expected, workflows } = step;
      const data = isStep(step, "loop") && stateEntry(expected)?.data;
      if (!data) return false;
      const path = drilled(workflows, data.currentPath);
      if (!path || path.length === data.currentPath.length) return false;
      data.currentPath = path;
      find(expected, "result").details.to = entryAt(workflows, path[path.length - 1]).name;
      step.packageDiverged = true;
      return true;
    },
  },
  {
    id: "A06",
    says: "next from a stored reference enters down to the first phase",
    rule: (step) => {
      const { expected, workflows } = step;
      const data = isStep(step, "next") && stateEntry(expected)?.data;
      if (!data?.active) return false;
      const path = drilled(workflows, data.currentPath);
      if (!path || path.length === data.currentPath.length) return false;
      const nameOf = (segments) => workflows[segments[segments.length - 1].workflowKey].name;
      const result = find(expected, "result");
      result.content[0].text = result.content[0].text.replace(`'${nameOf(data.currentPath)}'`, `'${nameOf(path)}'`);
      data.currentPath = path;
      step.packageDiverged = true;
      return true;
    },
  },
  {
    id: "B42",
    says: "a transition shows the new status at once",
    rule: (step) => {
      const { expected, workflows } = step;
      const data = stateEntry(expected)?.data;
      const status = find(expected, "status");
      if (!data?.active || !status || status.text !== null || !(isStep(step) || started(step))) return false;
      return replaceField(status, "text", statusText(workflows, data.currentPath));
    },
  },
  {
    id: "A10",
    says: "the status of a run on a reference ends in the phase",
    rule: (step) => {
      const { operation, expected, session, workflows, restored } = step;
      const isSession = ["session_start", "session_tree"].includes(operation.op);
      const state = isSession ? restored : session.state;
      const here = (isSession || operation.op === "turn_end") && state?.active ? locationOf(workflows, state) : null;
      return here?.onReference === true && replaceField(find(expected, "status"), "text", statusText(workflows, here.leaf));
    },
  },
  {
    id: "B02",
    says: "the progress in the context counts the innermost scope",
    rule: ({ expected, session }) => {
      const inject = find(expected, "inject");
      if (!inject) return false;
      const { currentPath } = session.state;
      const total = session.workflows[currentPath[currentPath.length - 1].workflowKey].phases.length;
      return replaceField(inject, "content", inject.content.replace(/\((\d+)\/\d+ in current scope\)/, `($1/${total} in current scope)`));
    },
  },
  {
    id: "B03",
    says: "{previousPhaseName} is the entry before this one in its scope, or around it",
    rule: ({ expected, session }) => marked(find(expected, "inject"), session, "previousPhaseName"),
  },
  {
    id: "B04",
    says: "{nextPhaseName} is the phase that next will enter",
    rule: ({ expected, session }) => marked(find(expected, "inject"), session, "nextPhaseName"),
  },
  {
    id: "B05",
    says: "status, next and loop resolve the variables in instructions",
    rule: (step) => {
      const result = isStep(step, "status", "next", "loop") ? find(step.expected, "result") : undefined;
      const state = statesAround(step).after;
      const here = locationOf(step.workflows, state);
      if (!result || !here) return false;
      const { instructions } = here.phase;
      const text = result.content[0].text;
      const resolved = fill(instructions, contextVariables(step.workflows, state));
      if (isStep(step, "status")) {
        const marks = ["**What to do:**\n", "\n\n**Available profiles:** "];
        return replaceField(result.content[0], "text", text.replace(marks[0] + instructions + marks[1], () => marks[0] + resolved + marks[1]));
      }
      const lead = `**What to do in ${here.phase.name}:**\n`;
      if (!text.endsWith(lead + instructions)) return false;
      return replaceField(result.content[0], "text", text.slice(0, -instructions.length) + resolved);
    },
  },
  {
    id: "B06",
    says: "loop in a scope that the definitions do not lead to gives the error that status gives",
    rule: (step) => {
      const { state, workflows } = step.session;
      if (!isStep(step, "loop") || !state?.active || leadsInside(state, workflows)) return false;
      step.packageDiverged = true;
      step.expected.splice(0, Infinity, {
        kind: "result",
        content: [{ type: "text", text: "The workflow configuration for this session is no longer available. Use workflow_step with action='cancel' to clear it, or reload the workflow definitions." }],
        details: { active: false, stale: true },
        resultType: "error",
      });
      return true;
    },
  },
  {
    id: "D23",
    says: "a loop that is refused says what to do instead",
    rule: (step) => {
      const result = isStep(step, "loop") ? find(step.expected, "result") : undefined;
      const text = result?.content?.[0]?.text;
      if (text !== "⚠️ Looping is disabled for this workflow.") return false;
      return replaceField(result.content[0], "text", `${text} You are still in this phase. Continue with it, and call workflow_step with action='next' when it is done.`);
    },
  },
  {
    id: "B16",
    says: "a session name never ends in half a surrogate pair",
    rule: ({ expected }) => {
      const name = find(expected, "name");
      return name !== undefined && replaceField(name, "name", name.name.replace(/[\ud800-\udbff]…$/, "…"));
    },
  },
  {
    id: "B22",
    says: "a stored start time that is no date is refused, and one whose year has no four digits is shown as its number",
    rule: (step) => {
      const result = isStep(step, "status") ? find(step.expected, "result") : undefined;
      return result !== undefined && replaceField(result.content[0], "text", result.content[0].text.replace(/(\n\*\*Started:\*\* )[+-]\d{6}-.*Z\n/, `$1${step.session.state?.startedAt}\n`));
    },
  },
  {
    id: "B29",
    says: "completions include the project's workflows",
    rule: ({ operation, expected, startable }) => {
      const complete = find(expected, "complete");
      if (!complete) return false;
      const items = completions(startable, operation.prefix);
      return JSON.stringify(items) !== JSON.stringify(complete.items) && replaceField(complete, "items", items);
    },
  },
  {
    id: "Completions",
    says: "completions may be as old as the last reading of the files, within a second",
    rule: ({ operation, expected, actual, startableAtLastRead }) => {
      const [complete, ours] = [find(expected, "complete"), find(actual, "complete")];
      if (!complete || JSON.stringify(complete.items) === JSON.stringify(ours?.items)) return false;
      const items = completions(startableAtLastRead, operation.prefix);
      return JSON.stringify(items) === JSON.stringify(ours?.items) && replaceField(complete, "items", items);
    },
  },
  {
    id: "B31",
    says: "an unknown workflow is answered with what can be started",
    rule: ({ expected, startable }) => {
      const notify = find(expected, "notify");
      const lead = /^Unknown workflow: "[^]*"\. Available: /.exec(notify?.message ?? "")?.[0];
      return lead !== undefined && replaceField(notify, "message", lead + (startable.map((w) => w.commandName).join(", ") || "(none)"));
    },
  },
  {
    id: "B38",
    says: "workflows are listed in byte order of their directories, integer-like ones too; that there are none is said",
    rule: ({ expected, startable }) => {
      const notify = find(expected, "notify");
      const lead = "Usage: /workflow {name} {description}\n\nAvailable workflows:\n";
      if (!notify?.message.startsWith(lead)) return false;
      return replaceField(notify, "message", lead + (startable.map((w) => `  ${w.commandName} — ${w.name}`).join("\n") || "  (none)"));
    },
  },
  {
    id: "B43",
    says: "an unknown action is an error result",
    rule: (step) => {
      const result = find(step.expected, "result");
      const ours = find(step.actual, "result");
      step.wordingIsOurs ||= result?.content === null;
      if (!isStep(step) || result?.content !== null || ours?.resultType !== "error" || typeof ours.content?.[0]?.text !== "string") return false;
      Object.assign(result, { ...ours });
      return true;
    },
  },
  {
    id: "B51",
    says: "an empty list of profiles reads (none)",
    rule: (step) => {
      const user = started(step) ? find(step.expected, "user") : undefined;
      if (user) return replaceField(user, "content", user.content.replaceAll("<firstPhaseProfiles=>", "<firstPhaseProfiles=(none)>"));
      const result = isStep(step, "status") ? find(step.expected, "result") : undefined;
      return result !== undefined && replaceField(result.content[0], "text", result.content[0].text.replace(/(\n\*\*Available profiles:\*\* )$/, "$1(none)"));
    },
  },
  {
    id: "B53",
    says: "without dialogs, a second start is reported",
    rule: (step) => {
      const { operation, expected, actual } = step;
      const confirm = expected.findIndex((e) => e.kind === "confirm" && e.asked === false);
      step.wordingIsOurs ||= confirm >= 0;
      const ours = find(actual, "notify");
      if (operation.op !== "command" || confirm < 0 || ours?.level !== "warning" || !ours.message.includes("already active")) return false;
      expected.splice(confirm, 1, { ...ours });
      return true;
    },
  },
  {
    id: "B54",
    says: "next without a definition says active and stale",
    rule: (step) => {
      const result = isStep(step, "next") ? find(step.expected, "result") : undefined;
      if (!step.session.state?.active || step.session.location || result?.details?.active !== false) return false;
      result.details = { active: true, stale: true };
      return true;
    },
  },
  {
    id: "D11",
    says: "what a phase allows is named when it is entered, in its status, and where its list blocks a call",
    rule: (step) => {
      const { expected, session } = step;
      if (session.mode === "unbounded") return false;
      const block = find(expected, "block");
      if (block && session.location) return replaceField(block, "reason", withAllowedTools(block.reason, session.location.phase));
      const result = isStep(step, "status", "next", "loop") ? find(expected, "result") : undefined;
      const state = statesAround(step).after;
      const here = locationOf(step.workflows, state);
      if (!result || !here) return false;
      const line = toolsLine(step.workflows, state, here.phase);
      const [content] = result.content;
      if (isStep(step, "status")) return line !== null && replaceField(content, "text", content.text.replace("\n\n**What to do:**\n", () => `\n${line}\n\n**What to do:**\n`));
      const lead = `\n\n**What to do in ${here.phase.name}:**\n`;
      const { profiles } = here.phase;
      const names = profiles?.length > 0 ? `**Available subagent profiles for this phase:** ${profiles.join(", ")}` : null;
      const lines = [line, names].filter((each) => each !== null).join("\n");
      return lines !== "" && replaceField(content, "text", content.text.replace(lead, () => `\n\n${lines}${lead}`));
    },
  },
  {
    id: "Context",
    says: "text that the conversation has is not repeated: neither in the context message nor in the built-in reminder",
    rule: (step) => {
      const { expected, session, operation } = step;
      if (session.mode === "unbounded") return false;
      const inject = find(expected, "inject");
      if (inject) {
        const { message, sent } = contextOf(inject.content, session.sent, session.workflows, session.state, session.location.phase);
        step.sent = sent;
        return replaceField(inject, "content", message);
      }
      const reminder = operation.op === "advance" ? find(expected, "user") : undefined;
      return reminder !== undefined && replaceField(reminder, "content", shortened(reminder.content, "instructions" in session.sent));
    },
  },
  {
    id: "D25",
    says: "a message about the end of a run is plain text, and ends with what happened in it",
    rule: ({ expected, actual }) => {
      const [message, ours] = [expected, actual].map((effects) => effects.find((e) => e.kind === "message" && e.customType === "workflow:complete"));
      if (!message) return false;
      const summary = SUMMARY.exec(ours?.content ?? "")?.[0] ?? "\n\nTime: a time span";
      return replaceField(message, "content", message.content.replace(ANNOUNCEMENT, (text) => text.replaceAll("**", "")) + summary);
    },
  },
  {
    id: "Hidden characters",
    says: "control and invisible characters are shown as escapes",
    rule: ({ expected }) => makeVisible(expected),
  },
];

/** Lists the completions of a prefix. */
function completions(startable, prefix) {
  const names = startable.map((w) => w.commandName).filter((name) => name.startsWith(prefix));
  return names.length > 0 ? names.map((name) => ({ value: name, label: name })) : null;
}

/** Returns true if the path leads to an existing scope, for any index in it. */
function leadsInside(state, workflows) {
  return state.currentPath.every((s) => s.workflowKey in workflows) && follows(state, workflows);
}

function announcedEntry({ operation, expected }) {
  const entry = stateEntry(expected);
  return operation.op === "agent_end" && entry !== undefined && replaceField(entry.data, "completionNotified", true);
}

/** Replaces the value in `<name=value>`. */
function marked(inject, session, name) {
  if (!inject) return false;
  const value = contextVariables(session.workflows, session.state)[name];
  return replaceField(inject, "content", inject.content.replaceAll(new RegExp(`<${name}=[^>]*>`, "g"), () => `<${name}=${value}>`));
}

/** Additional effects of ours. @type {EffectDifference[]} */
export const ON_TOP = [
  {
    id: "Changed files",
    says: "files that change guards or ways of the run apply alone when the user agrees, and a second start lists what they change",
    rule: (step) => {
      const isAbout = (e) => (e.kind === "confirm" && e.title.startsWith("Use the changed files")) || (e.kind === "notify" && e.message.startsWith("[workflow] The run keeps its rules."));
      const confirm = isCommand(step, "workflow") ? find(step.actual, "confirm") : undefined;
      const shorter = confirm?.message.replace(/\n\nThe new run uses the files as they are now\. They differ from what holds in this run:\n(?:- [^\n]*\n)+\nStart a new one\?$/, "\n\nStart a new one?");
      const lists = replaceField(confirm, "message", shorter);
      return drop(step, isAbout) || lists;
    },
  },
  {
    id: "workflow:definition",
    says: "the definition in force is stored with the run",
    rule: (step) => drop(step, (e) => isOurEntry(step, e, "workflow:definition") && e.data.workflows[0]?.key === runOf(step).workflowKey),
  },
  {
    id: "D14",
    says: "the status line begins with what the run waits for, and changes with it",
    rule: ({ actual, expected, session }) => {
      const statuses = actual.filter((effect) => effect.kind === "status");
      const ofPause = statuses.filter((effect) => PAUSE_NOTE.test(effect.text ?? ""));
      for (const effect of ofPause) effect.text = effect.text.replace(PAUSE_NOTE, "");
      // The package sets no status when a run is paused or resumed. A run that has ended is neither.
      const hasEnded = session.state?.active === false;
      const extra = hasEnded ? 0 : statuses.length - expected.filter((effect) => effect.kind === "status").length;
      if (extra === 1) actual.splice(actual.indexOf(statuses.at(-1)), 1);
      return ofPause.length > 0 || extra === 1;
    },
  },
  {
    id: "workflow:run",
    says: "the counters of reminders are stored with the run",
    rule: (step) => drop(step, (e) => isOurEntry(step, e, "workflow:run")),
  },
  {
    id: "workflow:tally",
    says: "the counts for the summary at the end are stored with the run",
    rule: (step) => drop(step, (e) => isOurEntry(step, e, "workflow:tally")),
  },
  {
    id: "D24",
    says: "the phases are shown in a widget, with what is done",
    rule: (step) => {
      const state = runOf(step);
      const { leaf } = locationOf(step.workflows, state) ?? {};
      const phases = leaf ? checklist(step.workflows, leaf) : null;
      const isIt = ({ lines }) => lines === null || (lines.length === 1 && lines[0] === visible(phases ?? "", false));
      return drop(step, (e) => e.kind === "widget" && e.key === "workflow-phases" && isIt(e));
    },
  },
  {
    id: "Diagnostics",
    says: "problems of definitions and stored entries are shown in the session",
    rule: (step) => {
      const isSession = ["session_start", "session_tree"].includes(step.operation.op);
      const tells = ({ message }) => message.startsWith("[workflow] ") && step.diagnostics.some((d) => message.includes(d.message));
      return isSession && drop(step, (e) => e.kind === "notify" && e.level === "warning" && tells(e), 1);
    },
  },
  {
    id: "isError",
    says: "an error result of workflow_step says isError",
    rule: ({ actual }) => {
      const result = find(actual, "result");
      return result?.isError === true && result.resultType === "error" && delete result.isError;
    },
  },
  {
    id: "Descriptions",
    says: "a completion comes with the workflow's name as its description",
    rule: ({ actual, startable, startableAtLastRead }) => {
      const items = find(actual, "complete")?.items ?? [];
      const known = [...startable, ...startableAtLastRead];
      const named = items.filter((item) => known.some((w) => w.commandName === item.value && visible(w.name, true) === item.description));
      for (const item of named) delete item.description;
      return named.length > 0;
    },
  },
  {
    id: "Unknown names without a description",
    says: "an unknown name is answered as such also without a description",
    rule: (step) => {
      const ours = isCommand(step, "workflow") ? find(step.actual, "notify") : undefined;
      const documented = find(step.expected, "notify");
      const name = /^Usage: \/workflow ([^]*) \{description\}$/.exec(documented?.message ?? "")?.[1];
      const refusals = [`Unknown workflow: "${name}"`, `"${name}" is a subworkflow`];
      if (name === undefined || !refusals.some((start) => ours?.message.startsWith(start))) return false;
      Object.assign(ours, documented);
      return true;
    },
  },
  {
    id: "Suggested names",
    says: "an unknown name that is nearly one that can be started is answered with that one",
    rule: (step) => {
      const notify = isCommand(step, "workflow") ? find(step.actual, "notify") : undefined;
      const [, sent, meant] = /^(Unknown workflow: [^]*)\n\nDid you mean "([^]*)"\?$/.exec(notify?.message ?? "") ?? [];
      return step.startable.some((w) => w.commandName === meant) && replaceField(notify, "message", sent);
    },
  },
  {
    id: "Problems of an unknown name",
    says: "an unknown name whose definition is broken is answered with the problems",
    rule: (step) => {
      const notify = isCommand(step, "workflow") ? find(step.actual, "notify") : undefined;
      const end = notify?.message.search(/\n\n"[^"]*" is defined, but has errors:\n/) ?? -1;
      return end >= 0 && notify.message.startsWith("Unknown workflow: ") && replaceField(notify, "message", notify.message.slice(0, end));
    },
  },
];

/** Returns the run of an operation, as ours stores it. */
const runOf = (step) => stateEntry(step.actual)?.data ?? step.restored ?? step.session.state;

/** Returns true if an effect is an entry of ours for this run. */
function isOurEntry(step, effect, customType) {
  return effect.kind === "entry" && effect.customType === customType && effect.data.taskId === runOf(step)?.taskId;
}

function drop(step, isOnTop, most = Infinity) {
  let left = most;
  const kept = step.actual.filter((effect) => !(left > 0 && isOnTop(effect) && left--));
  const changed = kept.length < step.actual.length;
  step.actual = kept;
  return changed;
}
