/**
 * One case: both sides get the same operations, one at a time, and their effects are compared.
 *
 * The effects must be equal once the intended differences are applied. If a difference leaves the two
 * in different states, the package is restored from the session's entries; both sides share one
 * branch, the one that ours wrote.
 *
 * @module
 */

import { readAsOurs, staleAsOurs } from "./differences/entries.mjs";
import { withoutDamaged } from "./differences/damaged.mjs";
import { EXPECTED, ON_TOP } from "./differences/effects.mjs";
import { withoutSubstitutes, withSubstitutes } from "./differences/substitute-keys.mjs";
import { toolsLine, withoutUncertainAnswer, withAnswer } from "./differences/context.mjs";
import { bounded, countReminder, NO_WIDGET, stopsCountdown, wasAborted } from "./differences/auto-continue.mjs";
import { normal, sameEffects, TaskIds } from "./effects.mjs";
import { locationOf } from "./navigation.mjs";
import { ordered } from "./listing.mjs";
import { definitionsForPackage } from "./package-definitions.mjs";
import { SessionModel } from "./session-model.mjs";

/** @typedef {import("./types.mjs").Operation} Operation */
/** @typedef {import("./types.mjs").Effect} Effect */

const SESSION_EVENTS = ["session_start", "session_tree"];

/**
 * The result of a case.
 *
 * @typedef {object} Report
 * @property {number} operations
 * @property {number} effects       compared and equal
 * @property {Map<string, number>} intended  uses of intended differences, by id
 * @property {Set<string>} seen      the coverage of the case
 * @property {string | null} ended   the id because of which the case ended early
 * @property {Unexplained | null} unexplained
 */

/** @typedef {{index: number, operation: Operation, package: Effect[], expected: Effect[], actual: Effect[], why?: string, diagnostics: any[]}} Unexplained */

export class CaseRun {
  /**
   * @param {import("./types.mjs").Case} case_
   * @param {{packageHost: import("./package-host.mjs").PackageHost, ours: any, packageDisk: import("./disk.mjs").Disk, oursDisk: import("./disk.mjs").Disk}} sides
   */
  constructor(case_, { packageHost, ours, packageDisk, oursDisk }) {
    this.case = case_;
    this.packageHost = packageHost;
    this.ours = ours;
    this.packageDisk = packageDisk;
    this.oursDisk = oursDisk;
    this.session = new SessionModel(case_);
    this.ids = new TaskIds();
    this.definitions = structuredClone(case_.definitions);
    /** @type {import("./types.mjs").Entry[]} */
    this.branch = [];
    /** Entries of other origin, for the next session event. */
    this.placed = [];
    /** The current definitions of the package, and those that ours has in force. */
    this.packageDefinitions = null;
    this.adopted = null;
    /** The workflows that could be started when ours last read the files. */
    this.startable = [];
    /** The definitions in force when ours stored them, by the entry. */
    this.stored = new Map();
    /** @type {Report} */
    this.report = { operations: 0, effects: 0, intended: new Map(), seen: new Set(), ended: null, unexplained: null };
  }

  note = (id) => {
    this.report.intended.set(id, (this.report.intended.get(id) ?? 0) + 1);
  };

  /** @returns {Promise<Report>} */
  async run() {
    const { cwd, agentDir } = this.packageDisk;
    await this.ours.open({ cwd: this.oursDisk.cwd, name: `case-${this.case.seed}` });
    await this.packageHost.open({ cwd, agentDir, now: this.ours.now, seed: this.case.seed });
    if (!(await this.placeDefinitions(this.note))) return this.report;
    for (const [index, operation] of this.case.operations.entries()) {
      if (await this.changesFiles(operation)) continue;
      if (operation.op === "entry") {
        this.placed.push(operation.entry);
        continue;
      }
      this.report.operations++;
      const step = await this.step(operation, index);
      if (this.report.unexplained || this.report.ended) return this.report;
      this.updateSession(step);
    }
    return this.report;
  }

  /** Performs an operation on the package, with substitutes for odd keys. @returns {Promise<import("./types.mjs").Outcome>} */
  async package(operation, branch) {
    const outcome = await this.packageHost.apply(operation, branch && withSubstitutes(branch), `${this.packageDisk.root}#${this.packageDisk.version}`);
    const { loaded, ...rest } = withoutSubstitutes(outcome);
    return { ...rest, loaded: loaded && byKey(loaded) };
  }

  /** Writes the definitions on both disks. @returns {Promise<boolean>} false if the package crashed on them */
  async placeDefinitions(note) {
    this.oursDisk.write(this.definitions);
    const survey = (definitions) => {
      this.packageDisk.write(definitions);
      return this.packageHost.survey(this.packageDisk.tiers);
    };
    this.packageDefinitions = await definitionsForPackage(this.definitions, survey, note);
    if (!this.packageDefinitions) {
      this.fail(-1, { op: "survey" }, { why: "the package crashed on these definitions" });
      return false;
    }
    this.packageDisk.write(this.packageDefinitions);
    return true;
  }

  async changesFiles(operation) {
    const { op, tier, path } = operation;
    if (op !== "write" && op !== "remove") return false;
    const tree = this.definitions[tier];
    for (const file of Object.keys(tree)) if (file === path || file.startsWith(`${path}/`)) delete tree[file];
    if (op === "write") tree[path] = operation.content;
    await this.placeDefinitions(() => {});
    return true;
  }

  /** Plays one operation on both sides and compares. */
  async step(operation, index) {
    const { session } = this;
    const isSession = SESSION_EVENTS.includes(operation.op);
    if (isSession) this.takeBranch(operation);
    const stop = session.countdown ? stopsCountdown(operation, session) : null;
    if (this.mustForgetCancel(operation)) await this.resetPackage("A03");
    if (stop && !isSession) await this.package({ op: "drop_timers" });
    const second = this.isSecondMove(operation);
    // Ours tells of a session whether it keeps the definition that the run has ("Changed files").
    const restored = isSession && !this.ours.reflect ? await this.ours.apply(operation, this.branch) : undefined;
    /** @type {import("./types.mjs").Outcome} */
    const theirs = second ? { effects: [], skipped: true } : isSession ? await this.restore(operation, restored?.diagnostics ?? []) : await this.package(operation);
    const ours = this.ours.reflect ? this.reflected(operation, theirs, stop) : (restored ?? (await this.ours.apply(operation)));
    const step = this.compared(operation, theirs, ours, stop);
    if (theirs.died || ours.died) {
      this.fail(index, operation, { ...step, why: `${theirs.died ? "the package" : "ours"} ${theirs.died ?? ours.died}` });
    } else if (!sameEffects(step.expected, step.actual)) {
      this.fail(index, operation, step);
    }
    this.report.effects += step.expected.length;
    for (const effect of ours.effects) {
      if (effect.kind === "entry") this.append(effect);
    }
    if (!this.report.unexplained) await this.follow(step, theirs);
    return step;
  }

  /** Returns the effects of a stand-in: the expected ones, with its fault. */
  reflected(operation, theirs, stop) {
    const { note } = this;
    this.note = () => {};
    const { expected, wordingIsOurs } = this.compared(operation, theirs, { effects: theirs.effects }, stop);
    this.note = note;
    return { effects: wordingIsOurs ? expected : this.ours.reflect(operation, expected) };
  }

  /** Applies the rules to the effects of both sides. */
  compared(operation, theirs, ours, stop) {
    const { session } = this;
    const package_ = normal(theirs.effects);
    const begins = operation.op === "command" && operation.name === "workflow";
    if (begins && this.ids.pair(package_, normal(ours.effects))) this.note("A17");
    const step = {
      operation,
      session,
      package: package_,
      expected: structuredClone(this.ids.inTheirs(package_)),
      actual: structuredClone(this.ids.inOurs(normal(ours.effects))),
      diagnostics: ours.diagnostics ?? [],
      workflows: theirs.loaded && !theirs.skipped && adopts(operation, theirs) ? theirs.loaded : session.workflows,
      restored: theirs.state ? this.ids.inTheirs(theirs.state) : undefined,
      startable: ordered(theirs.listed ?? [], this.packageDefinitions),
      startableAtLastRead: this.startable,
      packageDiverged: false,
      dropTimers: false,
      wordingIsOurs: false,
      sent: session.sent,
      counters: session.counters,
    };
    for (const { id, rule } of ON_TOP) if (rule(step)) this.note(id);
    if (theirs.skipped) this.expectRefusal(step);
    if (bounded(step)) {
      this.note("Auto-continue");
      step.dropTimers = true;
    }
    for (const { id, rule } of EXPECTED) if (rule(step)) this.note(id);
    const began = startedRun(step) && session.countdown ? "B12" : null;
    const stopped = stop ?? began;
    if (stopped) {
      this.note(stopped);
      step.dropTimers ||= began !== null;
      const at = step.expected[0]?.kind === "confirm" ? 1 : 0;
      if (session.countdown === "widget") step.expected.splice(at, 0, { ...NO_WIDGET });
    }
    return step;
  }

  /** Updates session and package to the state of ours after the operation. */
  async follow(step, theirs) {
    const { operation } = step;
    const read = theirs.loaded ? Object.values(theirs.loaded) : theirs.listed;
    if (read && operation.op !== "complete") this.startable = ordered(read, this.packageDefinitions);
    if (step.dropTimers) theirs.timers = (await this.package({ op: "drop_timers" })).timers;
    this.session.countdown = countdownOf(theirs.timers ?? []);
    if (SESSION_EVENTS.includes(operation.op)) {
      this.session.restored(step.restored ?? null, step.workflows, this.branch, theirs.state?.taskId);
    } else if (theirs.loaded && !theirs.skipped) {
      await this.followCommand(step, theirs);
    }
    if (step.packageDiverged) await this.resetPackage(null);
  }

  /** Handles `/workflow`: a start adopts the definitions; anything else must not (B35). */
  async followCommand(step, theirs) {
    if (startedRun(step)) {
      this.adopted = this.packageDefinitions;
      this.session.workflows = theirs.loaded;
    } else if (this.session.state && JSON.stringify(theirs.loaded) !== JSON.stringify(this.session.workflows)) {
      if (this.session.countdown) this.report.ended = "B35";
      else await this.resetPackage("B35");
    }
  }

  /** Returns true for `next` or `loop` after this response of the model has moved the run (P14). */
  isSecondMove({ op, arguments: args }) {
    return op === "step" && ["next", "loop"].includes(args.action) && this.session.turnMoved === true && this.session.location !== null;
  }

  expectRefusal(step) {
    this.note("P14");
    step.wordingIsOurs = true;
    const ours = step.actual.find((e) => e.kind === "result");
    const isRefusal = ours?.resultType === "error" && ours.details?.advanced === false && ours.content?.[0]?.text?.includes(this.session.location.phase.name);
    step.expected = [isRefusal ? structuredClone(ours) : { kind: "result", content: [{ type: "text", text: "a refusal that names the phase" }], resultType: "error" }];
  }

  /** Returns true if the package would take the next cancel for the second one (A03). */
  mustForgetCancel({ op, arguments: args }) {
    if (!this.session.cancelPending) return false;
    return (op === "step" && args.action !== "cancel") || op === "before_agent_start" || op === "agent_end";
  }

  /** Updates the branch for a session event. */
  takeBranch(operation) {
    this.branch.push(...this.placed);
    this.placed = [];
    if (operation.op === "session_tree" && operation.keep !== undefined) this.branch = this.branch.slice(0, Math.floor(operation.keep * this.branch.length));
  }

  append({ customType, data }) {
    const entry = { type: "custom", customType, data };
    this.branch.push(entry);
    if (customType === "workflow:definition") this.stored.set(entry, data.declined ? this.adopted : this.packageDefinitions);
  }

  /** Restores the package from the entries, as ours reads them. */
  async restore(operation, diagnostics) {
    const branch = readAsOurs(withoutDamaged(this.branch, this.note), this.note);
    let outcome = await this.package(operation, branch);
    const again = (changed) => this.package(operation, changed);
    const before = this.session.state?.active ? { taskId: this.session.state.taskId, definitions: this.adopted } : null;
    this.adopted = this.packageDefinitions;
    const changed = diagnostics.find(({ code }) => code === "WF106");
    const keepsStored = changed?.message.includes("keeps its stored definition") ?? false;
    // The package cannot have two lists of tools in force.
    if (changed && !keepsStored) this.report.ended = "Changed files";
    const older = keepsStored ? this.inForceBefore(outcome.state, before) : this.definitionsThatFit(outcome, before);
    if (older) {
      this.packageDisk.write(older);
      const stored = await again(branch);
      this.packageDisk.write(this.packageDefinitions);
      if (fits(stored.state, stored.loaded)) {
        this.note(keepsStored ? "Changed files" : "Definition gone");
        outcome = stored;
        this.adopted = older;
      } else {
        outcome = await again(branch);
      }
    }
    const stale = staleAsOurs(outcome.state, outcome.loaded ?? {});
    if (!stale) return outcome;
    stale.ids.forEach(this.note);
    return again(changedNewest(branch, stale.change));
  }

  /** Returns the definitions that the run continues with if the files no longer fit it ("Definition gone"). @param {import("./types.mjs").Outcome} outcome */
  definitionsThatFit({ state, loaded }, before) {
    if (!state || (!state.active && state.completionNotified) || fits(state, loaded)) return null;
    return this.inForceBefore(state, before);
  }

  /** Returns the definitions that were in force in the run until now: those of the open session, else those that ours stored last with it. */
  inForceBefore(state, before) {
    if (before && before.taskId === this.ids.inTheirs(state?.taskId)) return before.definitions;
    const entry = this.branch.findLast((e) => e.customType === "workflow:definition" && e.data?.taskId === state?.taskId);
    return this.stored.get(entry) ?? null;
  }

  /** Restores the package from the session's entries, with the definitions that ours has in force. */
  async resetPackage(id) {
    if (id) this.note(id);
    const branch = readAsOurs(withoutDamaged(this.branch, () => {}), () => {});
    const operation = { op: "session_start", event: {} };
    if (this.adopted !== this.packageDefinitions) this.packageDisk.write(this.adopted);
    const outcome = await this.package(operation, branch);
    const stale = staleAsOurs(outcome.state, outcome.loaded ?? {});
    if (stale) await this.package(operation, changedNewest(branch, stale.change));
    if (this.adopted !== this.packageDefinitions) this.packageDisk.write(this.packageDefinitions);
  }

  /** Updates the session after an operation. */
  updateSession(step) {
    const { operation, session, expected } = step;
    const entry = expected.find((e) => e.kind === "entry" && e.customType === "workflow:state");
    if (expected.some((e) => e.kind === "inject")) this.see(`context of ${session.state.currentPath.length > 1 ? "nested" : "linear"} run`);
    switch (operation.op) {
      case "before_agent_start":
        this.promptGiven(operation);
        session.sent = step.sent;
        break;
      case "turn_start":
        session.turnMoved = false;
        break;
      case "turn_end":
        session.turnMoved = null;
        break;
      case "input":
        session.userSpoke();
        break;
      case "session_compact":
        session.sent = {};
        break;
      case "tool_call":
        session.toolWasUsed();
        break;
      case "step":
        this.stepped(operation, expected, entry);
        break;
      case "agent_end":
        session.turnMoved = null;
        session.cancelPending = false;
        session.counters = step.counters;
        if (wasAborted(operation.messages)) session.sent = withoutUncertainAnswer(session.sent);
        if (session.location) session.reminder = null;
        if (entry) session.state = null;
        break;
      case "command":
        this.commanded(operation, entry);
        break;
      case "advance":
        countReminder(step);
        break;
      default:
    }
  }

  promptGiven({ event }) {
    const { session } = this;
    // Generated prompts never contain the reminder; the first run without a prompt is its run.
    const isReminder = session.location !== null && session.counters.reminders > 0 && event?.prompt === undefined && session.reminder?.started === false;
    if (isReminder) session.reminder.started = true;
    else session.userSpoke();
    session.cancelPending = false;
    session.turnMoved = null;
  }

  stepped({ arguments: args }, expected, entry) {
    const { session } = this;
    session.toolWasUsed();
    if (args.action !== "cancel") session.cancelPending = false;
    if (expected.some((e) => e.kind === "result" && e.details?.cancelPending)) session.cancelPending = true;
    if (!entry) return;
    if (args.action !== "cancel" && session.turnMoved !== null) session.turnMoved = true;
    session.entered(entry.data);
    const answer = expected.find((e) => e.kind === "result")?.content?.[0]?.text;
    if (answer && session.location) {
      const { phase } = session.location;
      const line = toolsLine(session.workflows, session.state, phase);
      session.sent = withAnswer(session.sent, answer, phase, line);
    }
    this.see(entry.data.currentPath.length > 1 ? "move in a nested run" : "move in a linear run");
  }

  commanded({ name }, entry) {
    if (!entry) return;
    const { session } = this;
    if (name === "cancel-workflow") session.state = null;
    else session.started(entry.data);
    if (name === "workflow" && session.turnMoved !== null) session.turnMoved = false;
    session.reminder = null;
  }

  see(what) {
    this.report.seen.add(what);
  }

  /** @param {number} index @param {Operation} operation @param {any} step */
  fail(index, operation, { package: package_ = [], expected = [], actual = [], why, diagnostics = [] }) {
    this.report.unexplained = { index, operation, package: package_, expected, actual, why, diagnostics };
  }
}

/** Returns the kind of countdown: the package uses an interval with a widget, and a timeout without. @param {string[]} timers */
function countdownOf(timers) {
  if (timers.length === 0) return null;
  return timers.includes("interval") ? "widget" : "message";
}

/** Converts to a record without a prototype, so that a workflow may have the key `constructor`. */
function byKey(workflows) {
  const record = Object.create(null);
  for (const workflow of workflows) record[workflow.key] = workflow;
  return record;
}

/** Returns true if the operation makes ours adopt the loaded definitions. */
function adopts(operation, theirs) {
  return SESSION_EVENTS.includes(operation.op) || theirs.effects.some((e) => e.kind === "entry");
}

function startedRun({ operation, expected }) {
  return operation.op === "command" && operation.name === "workflow" && expected.some((e) => e.kind === "entry");
}

/** Returns true if a run can continue with these definitions; one that ended needs only its workflow. */
function fits(state, workflows) {
  return state.active ? locationOf(workflows, state) !== null : state.workflowKey in workflows;
}

/** Copies the branch with another newest state. */
function changedNewest(branch, change) {
  const at = branch.findLastIndex((e) => e.type === "custom" && e.customType === "workflow:state" && e.data?.workflowKey != null);
  return branch.map((entry, i) => (i === at ? { ...entry, data: change(entry.data) } : entry));
}
