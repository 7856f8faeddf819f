/**
 * One case: both sides are given the same operations, one at a time, and what they do is compared.
 *
 * The package must do what ours does, once the intended differences are applied. Where one of
 * them leaves the two in different states, the package is put back to where ours stands by
 * restoring it from the session's entries; both sides share one branch, the one ours wrote.
 *
 * @module
 */

import { readAsOurs, staleAsOurs } from "./differences/entries.mjs";
import { EXPECTED, ON_TOP } from "./differences/effects.mjs";
import { withoutStandIns, withStandIns } from "./differences/keys.mjs";
import { doubted, withAnswer } from "./differences/context.mjs";
import { bounded, countPush, NO_WIDGET, stopsCountdown, wasAborted } from "./differences/pushing.mjs";
import { normal, sameEffects, TaskIds } from "./effects.mjs";
import { place } from "./navigation.mjs";
import { ordered } from "./listing.mjs";
import { steer } from "./steer.mjs";
import { World } from "./world.mjs";

/** @typedef {import("./types.mjs").Operation} Operation */
/** @typedef {import("./types.mjs").Effect} Effect */

const SESSION_EVENTS = ["session_start", "session_tree"];

/**
 * What came of a case.
 *
 * @typedef {object} Report
 * @property {number} operations
 * @property {number} effects       compared, and found as they should be
 * @property {Map<string, number>} intended  uses of intended differences, by id
 * @property {Set<string>} seen      what the case covered
 * @property {string | null} ended   the id on account of which the case was not played to its end
 * @property {Unexplained | null} unexplained
 */

/** @typedef {{index: number, operation: Operation, package: Effect[], expected: Effect[], actual: Effect[], why?: string, diagnostics: any[]}} Unexplained */

export class CaseRun {
  /**
   * @param {import("./types.mjs").Case} case_
   * @param {{peer: import("./peer.mjs").Peer, ours: any, peerDisk: import("./disk.mjs").Disk, oursDisk: import("./disk.mjs").Disk}} sides
   */
  constructor(case_, { peer, ours, peerDisk, oursDisk }) {
    this.case = case_;
    this.peer = peer;
    this.ours = ours;
    this.peerDisk = peerDisk;
    this.oursDisk = oursDisk;
    this.world = new World(case_);
    this.ids = new TaskIds();
    this.definitions = structuredClone(case_.definitions);
    /** @type {import("./types.mjs").Entry[]} */
    this.branch = [];
    /** Entries that someone put there, waiting for the next session event. */
    this.placed = [];
    /** The definitions the package is given now, and those that ours has in force. */
    this.steered = null;
    this.adopted = null;
    /** What could be started when ours last read the files. */
    this.startable = [];
    /** The definitions that were in force when ours stored them, by the entry. */
    this.stored = new Map();
    /** @type {Report} */
    this.report = { operations: 0, effects: 0, intended: new Map(), seen: new Set(), ended: null, unexplained: null };
  }

  note = (id) => {
    this.report.intended.set(id, (this.report.intended.get(id) ?? 0) + 1);
  };

  /** @returns {Promise<Report>} */
  async run() {
    const { cwd, agentDir } = this.peerDisk;
    await this.ours.open({ cwd: this.oursDisk.cwd, name: `case-${this.case.seed}` });
    await this.peer.open({ cwd, agentDir, now: this.ours.now, seed: this.case.seed });
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
      this.settle(step);
    }
    return this.report;
  }

  /** Asks the package; odd keys go by their stand-ins there. @returns {Promise<import("./types.mjs").Outcome>} */
  async package(operation, branch) {
    const outcome = await this.peer.apply(operation, branch && withStandIns(branch), `${this.peerDisk.root}#${this.peerDisk.version}`);
    const { loaded, ...rest } = withoutStandIns(outcome);
    return { ...rest, loaded: loaded && byKey(loaded) };
  }

  /** Puts the definitions on both disks. @returns {Promise<boolean>} false if the package died over them */
  async placeDefinitions(note) {
    this.oursDisk.write(this.definitions);
    const survey = (definitions) => {
      this.peerDisk.write(definitions);
      return this.peer.survey(this.peerDisk.tiers);
    };
    this.steered = await steer(this.definitions, survey, note);
    if (!this.steered) {
      this.fail(-1, { op: "survey" }, { why: "the package died over these definitions" });
      return false;
    }
    this.peerDisk.write(this.steered);
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
    const { world } = this;
    const isSession = SESSION_EVENTS.includes(operation.op);
    if (isSession) this.takeBranch(operation);
    const stop = world.countdown ? stopsCountdown(operation, world) : null;
    if (this.mustForgetCancel(operation)) await this.putBack("A03");
    if (stop && !isSession) await this.package({ op: "drop_timers" });
    const second = this.isSecondMove(operation);
    /** @type {import("./types.mjs").Outcome} */
    const theirs = second ? { effects: [], skipped: true } : isSession ? await this.restore(operation) : await this.package(operation);
    const ours = this.ours.reflect ? this.reflected(operation, theirs, stop) : await this.ours.apply(operation, isSession ? this.branch : undefined);
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

  /** What a mirror does: what the rules expect, or nearly. */
  reflected(operation, theirs, stop) {
    const { note } = this;
    this.note = () => {};
    const { expected, wordingIsOurs } = this.compared(operation, theirs, { effects: theirs.effects }, stop);
    this.note = note;
    return { effects: wordingIsOurs ? expected : this.ours.reflect(operation, expected) };
  }

  /** Applies the rules to what both sides did. */
  compared(operation, theirs, ours, stop) {
    const { world } = this;
    const package_ = normal(theirs.effects);
    const begins = operation.op === "command" && operation.name === "workflow";
    if (begins && this.ids.meet(package_, normal(ours.effects))) this.note("A17");
    const step = {
      operation,
      world,
      package: package_,
      expected: structuredClone(this.ids.inTheirs(package_)),
      actual: structuredClone(this.ids.inOurs(normal(ours.effects))),
      diagnostics: ours.diagnostics ?? [],
      workflows: theirs.loaded && !theirs.skipped && adopts(operation, theirs) ? theirs.loaded : world.workflows,
      restored: theirs.state ? this.ids.inTheirs(theirs.state) : undefined,
      startable: ordered(theirs.listed ?? [], this.steered),
      startableLately: this.startable,
      packageStandsElsewhere: false,
      dropTimers: false,
      wordingIsOurs: false,
      sent: world.sent,
      pace: world.pace,
    };
    for (const { id, rule } of ON_TOP) if (rule(step)) this.note(id);
    if (theirs.skipped) this.expectRefusal(step);
    if (bounded(step)) {
      this.note("Auto-continue");
      step.dropTimers = true;
    }
    for (const { id, rule } of EXPECTED) if (rule(step)) this.note(id);
    const began = startedRun(step) && world.countdown ? "B12" : null;
    const stopped = stop ?? began;
    if (stopped) {
      this.note(stopped);
      step.dropTimers ||= began !== null;
      const at = step.expected[0]?.kind === "confirm" ? 1 : 0;
      if (world.countdown === "widget") step.expected.splice(at, 0, { ...NO_WIDGET });
    }
    return step;
  }

  /** Brings world and package to where the operation left ours. */
  async follow(step, theirs) {
    const { operation } = step;
    const read = theirs.loaded ? Object.values(theirs.loaded) : theirs.listed;
    if (read && operation.op !== "complete") this.startable = ordered(read, this.steered);
    if (step.dropTimers) theirs.timers = (await this.package({ op: "drop_timers" })).timers;
    this.world.countdown = countdownOf(theirs.timers ?? []);
    if (SESSION_EVENTS.includes(operation.op)) {
      this.world.restored(step.restored ?? null, step.workflows, this.branch, theirs.state?.taskId);
    } else if (theirs.loaded && !theirs.skipped) {
      await this.followCommand(step, theirs);
    }
    if (step.packageStandsElsewhere) await this.putBack(null);
  }

  /** After `/workflow`: a start adopts the definitions; anything else must not (B35). */
  async followCommand(step, theirs) {
    if (startedRun(step)) {
      this.adopted = this.steered;
      this.world.workflows = theirs.loaded;
    } else if (this.world.state && JSON.stringify(theirs.loaded) !== JSON.stringify(this.world.workflows)) {
      if (this.world.countdown) this.report.ended = "B35";
      else await this.putBack("B35");
    }
  }

  /** P14: `next` after this response of the model has already moved the run. */
  isSecondMove({ op, arguments: args }) {
    return op === "step" && args.action === "next" && this.world.turnMoved === true && this.world.place !== null;
  }

  expectRefusal(step) {
    this.note("P14");
    step.wordingIsOurs = true;
    const ours = step.actual.find((e) => e.kind === "result");
    const isRefusal = ours?.resultType === "error" && ours.details?.advanced === false && ours.content?.[0]?.text?.includes(this.world.place.phase.name);
    step.expected = [isRefusal ? structuredClone(ours) : { kind: "result", content: [{ type: "text", text: "a refusal that names the phase" }], resultType: "error" }];
  }

  /** A03: the package would still take the next cancel for the second one. */
  mustForgetCancel({ op, arguments: args }) {
    if (!this.world.cancelPending) return false;
    return (op === "step" && args.action !== "cancel") || op === "before_agent_start" || op === "agent_end";
  }

  /** The branch as a session event finds it. */
  takeBranch(operation) {
    this.branch.push(...this.placed);
    this.placed = [];
    if (operation.op === "session_tree" && operation.keep !== undefined) this.branch = this.branch.slice(0, Math.floor(operation.keep * this.branch.length));
  }

  append({ customType, data }) {
    const entry = { type: "custom", customType, data };
    this.branch.push(entry);
    if (customType === "workflow:definition") this.stored.set(entry, this.steered);
  }

  /** A session event, for the package: from the entries as ours reads them. */
  async restore(operation) {
    const branch = readAsOurs(this.branch, this.note);
    let outcome = await this.package(operation, branch);
    const again = (changed) => this.package(operation, changed);
    this.adopted = this.steered;
    const older = this.storedDefinitions(outcome);
    if (older) {
      this.peerDisk.write(older);
      const stored = await again(branch);
      this.peerDisk.write(this.steered);
      if (fits(stored.state, stored.loaded)) {
        this.note("Definition gone");
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

  /** "Definition gone": the definitions stored with the run, where the files do not fit it any more and those do. @param {import("./types.mjs").Outcome} outcome */
  storedDefinitions({ state, loaded }) {
    if (!state || (!state.active && state.completionNotified) || fits(state, loaded)) return null;
    const entry = this.branch.findLast((e) => e.customType === "workflow:definition" && e.data?.taskId === state.taskId);
    return this.stored.get(entry) ?? null;
  }

  /** Restores the package from the session's entries, with the definitions that ours has in force. */
  async putBack(id) {
    if (id) this.note(id);
    const branch = readAsOurs(this.branch, () => {});
    const operation = { op: "session_start", event: {} };
    if (this.adopted !== this.steered) this.peerDisk.write(this.adopted);
    const outcome = await this.package(operation, branch);
    const stale = staleAsOurs(outcome.state, outcome.loaded ?? {});
    if (stale) await this.package(operation, changedNewest(branch, stale.change));
    if (this.adopted !== this.steered) this.peerDisk.write(this.steered);
  }

  /** What the operation did to the world, as ours keeps it. */
  settle(step) {
    const { operation, world, expected } = step;
    const entry = expected.find((e) => e.kind === "entry" && e.customType === "workflow:state");
    if (expected.some((e) => e.kind === "inject")) this.see(`context of ${world.state.currentPath.length > 1 ? "nested" : "linear"} run`);
    switch (operation.op) {
      case "before_agent_start":
        this.promptGiven(operation);
        world.sent = step.sent;
        break;
      case "turn_start":
        world.turnMoved = false;
        break;
      case "turn_end":
        world.turnMoved = null;
        break;
      case "input":
        world.userSpoke();
        break;
      case "session_compact":
        world.sent = {};
        break;
      case "tool_call":
        world.toolWasUsed();
        break;
      case "step":
        this.stepped(operation, expected, entry);
        break;
      case "agent_end":
        world.turnMoved = null;
        world.cancelPending = false;
        world.pace = step.pace;
        if (wasAborted(operation.messages)) world.sent = doubted(world.sent);
        if (world.place) world.pushed = null;
        if (entry) world.state = null;
        break;
      case "command":
        this.commanded(operation, entry);
        break;
      case "advance":
        countPush(step);
        break;
      default:
    }
  }

  promptGiven({ event }) {
    const { world } = this;
    // The generator's prompts never hold the reminder; without a prompt it is ours once.
    const isPush = world.place !== null && world.pace.pushes > 0 && event?.prompt === undefined && world.pushed?.started === false;
    if (isPush) world.pushed.started = true;
    else world.userSpoke();
    world.cancelPending = false;
    world.turnMoved = null;
  }

  stepped({ arguments: args }, expected, entry) {
    const { world } = this;
    world.toolWasUsed();
    if (args.action !== "cancel") world.cancelPending = false;
    if (expected.some((e) => e.kind === "result" && e.details?.cancelPending)) world.cancelPending = true;
    if (!entry) return;
    if (args.action !== "cancel" && world.turnMoved !== null) world.turnMoved = true;
    world.entered(entry.data);
    const answer = expected.find((e) => e.kind === "result")?.content?.[0]?.text;
    if (answer && world.place) world.sent = withAnswer(world.sent, answer, world.place.phase.name);
    this.see(entry.data.currentPath.length > 1 ? "move in a nested run" : "move in a linear run");
  }

  commanded({ name }, entry) {
    if (!entry) return;
    const { world } = this;
    if (name === "cancel-workflow") world.state = null;
    else world.started(entry.data);
    if (name === "workflow" && world.turnMoved !== null) world.turnMoved = false;
    world.pushed = null;
  }

  see(what) {
    this.report.seen.add(what);
  }

  /** @param {number} index @param {Operation} operation @param {any} step */
  fail(index, operation, { package: package_ = [], expected = [], actual = [], why, diagnostics = [] }) {
    this.report.unexplained = { index, operation, package: package_, expected, actual, why, diagnostics };
  }
}

/** The package counts an interval where it shows a widget, and waits once where it cannot. @param {string[]} timers */
function countdownOf(timers) {
  if (timers.length === 0) return null;
  return timers.includes("interval") ? "widget" : "message";
}

/** A record without a prototype, so that a workflow may be called `constructor`. */
function byKey(workflows) {
  const record = Object.create(null);
  for (const workflow of workflows) record[workflow.key] = workflow;
  return record;
}

/** Whether the operation puts the definitions it loaded in force on ours' side. */
function adopts(operation, theirs) {
  return SESSION_EVENTS.includes(operation.op) || theirs.effects.some((e) => e.kind === "entry");
}

function startedRun({ operation, expected }) {
  return operation.op === "command" && operation.name === "workflow" && expected.some((e) => e.kind === "entry");
}

/** Whether a run can go on with these definitions; one that ended needs only its workflow. */
function fits(state, workflows) {
  return state.active ? place(workflows, state) !== null : state.workflowKey in workflows;
}

/** The branch with another newest state. */
function changedNewest(branch, change) {
  const at = branch.findLastIndex((e) => e.type === "custom" && e.customType === "workflow:state" && e.data?.workflowKey != null);
  return branch.map((entry, i) => (i === at ? { ...entry, data: change(entry.data) } : entry));
}
