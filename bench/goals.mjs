/**
 * The goals, in the order in which they are measured.
 *
 * @module
 */

import { agentEnd, branch } from "./goals/long-lines.mjs";
import { modelContext } from "./goals/model-context.mjs";
import { biggerCalls, everything, sessionBegins } from "./goals/package.mjs";
import { memory, perEvent, startUp } from "./goals/process.mjs";
import { constant, inFlight, longInput, nearTheFloor } from "./goals/tool-call.mjs";

/** @type {{id: string, title: string, rows: ((bench: import("./measure.mjs").Bench) => AsyncGenerator<Row>)[]}[]} */
export const GOALS = [
  { id: "P1", title: "a tool call is hardly more than a line there and back", rows: [nearTheFloor] },
  { id: "P2", title: "what is around a tool call costs it nothing", rows: [constant] },
  { id: "P3", title: "long input is passed over", rows: [longInput] },
  { id: "P4", title: "bigger calls are faster than in process", rows: [biggerCalls] },
  { id: "P5", title: "a session begins without reading everything", rows: [sessionBegins] },
  { id: "P6", title: "all workflows are read fast", rows: [everything] },
  { id: "P7", title: "of a conversation only the end is read", rows: [agentEnd] },
  { id: "P8", title: "of a branch only the newest entries count", rows: [branch] },
  { id: "P9", title: "it starts at once and is small", rows: [startUp, memory] },
  { id: "P10", title: "many calls at once", rows: [inFlight] },
  { id: "P11", title: "a process that stays", rows: [perEvent] },
  { id: "C1", title: "little for the model to read", rows: [modelContext] },
];

/**
 * @typedef {object} Row
 * @property {string} name
 * @property {import("./statistics.mjs").Figure} figure
 * @property {{most: number} | {least: number}} [bound]  none where no goal is set
 * @property {string} unit
 * @property {boolean} [met]
 */
