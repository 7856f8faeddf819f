/**
 * The intended differences between the package and ours, by the ids of the project's behaviour
 * page, each in one line. They are applied in `differences/files.mjs` (the meaning of files),
 * `differences/entries.mjs` (the reading of stored entries), `differences/effects.mjs` (effects and
 * texts), `differences/auto-continue.mjs` (countdown and limits) and `session.mjs` (P14, A03, B35 and
 * Definition gone, for which the package is skipped or reset).
 *
 * @module
 */

import { EXPECTED, ON_TOP } from "./differences/effects.mjs";

/** @type {[string, string][]} */
const ELSEWHERE = [
  ["A03", "a first cancel is forgotten at any other action, at before_agent_start and agent_end"],
  ["A08", "a stored step count that is not a whole number is refused, and a state without a workflow is passed over"],
  ["A17", "a task id always ends in six characters"],
  ["B08", "a cycle of keys with a full stop is found and removed"],
  ["B09", "cycles that share a member end; the package loops until its heap is full"],
  ["B10", "a workflow is removed with the workflow it refers to"],
  ["B11", "cancelling stops the countdown"],
  ["B12", "a start stops the countdown"],
  ["B13", "a running agent and input of the user stop the countdown"],
  ["B14", "a session event clears the widget with the timer"],
  ["B15", "there is one countdown"],
  ["B17", "a name length that is not a whole number counts as absent"],
  ["B18", "a directory called __proto__ is an ordinary key"],
  ["B19", "a reference to constructor is a reference to nothing"],
  ["B20", "a stored key called constructor is an unknown workflow"],
  ["B21", "a stored index that is not a whole number is refused"],
  ["B23", "a stored state without a task description has an empty one"],
  ["B24", "an override that is not valid leaves the global workflow in place"],
  ["B25", "a linked workflow directory is followed"],
  ["B28", "absolute paths are refused"],
  ["B32", "a visible workflow is found before an internal one of the same command"],
  ["B33", "a list of tools that is not a list is an error"],
  ["B34", "loopable and show of another type are errors"],
  ["B44", "a stored path whose segments do not follow each other is stale"],
  ["B47", "one byte order mark before the frontmatter is dropped"],
  ["B56", "names of tools are strings"],
  ["Names", "a phase without a name has one that is made of its id"],
  ["P14", "a second next in one response of the model is refused"],
  ["Auto-continue", "reminders are bounded: at an error, a question or a limit the run is paused"],
  ["Definition gone", "a run continues with the definition stored in the session"],
  ["Entries", "a stored state is completed to exactly its documented fields"],
  ["YAML", "control characters, half surrogate pairs and stray byte order marks are errors, !!float makes a number, as YAML 1.2 says"],
  ["Strict keys", "an unknown key under a guard and a name that no tool has are errors"],
];

/** Every intended difference, id and statement. */
export const DIFFERENCES = new Map(/** @type {[string, string][]} */ ([...ELSEWHERE, ...[...EXPECTED, ...ON_TOP].map(({ id, says }) => [id, says])]).sort(([a], [b]) => (a < b ? -1 : 1)));
