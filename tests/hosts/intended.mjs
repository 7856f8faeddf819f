/**
 * The intended differences between our extension and the npm package, by their ids.
 *
 * A mark describes the difference in a recording; a scenario lists the ids that occur in it. The ids are those of
 * tests/differential/BEHAVIOUR.md; those that begin with `host` are about pi itself.
 */

/** The differences that may occur in any scenario; `id@host` on one host only. */
export const everywhere = ['own-words', 'flow-parameters', 'definition-entry', 'run-entry', 'tally-entry', 'A01', 'B05', 'B14', 'B42', 'Context', 'D24', 'D25', 'D26', 'host-display', 'host-order@0.74.2'];

const context = /^\[Workflow path: /;
const shortened = /^\[Workflow path: [^\n]*\] (Instructions and rules are unchanged\.|New [^\n]*\. All other)|^\*\*(Tools|To leave this phase):\*\* |^You do the work of this workflow yourself/m;
const leftOut = /^\*\*(Task|What to do in this phase|Available subagent profiles for this phase|All profiles):\*\*/m;
const reminder = /^⚠️ The .* is still active|Current phase instructions:|^Continue with .* is still in /m;
const announced = /^(✅|❌) /m;

/** @type {Record<string, import('./differences.mjs').Intended>} */
export const intended = {
  'own-words': {
    says: 'the tool has another description for the model',
    marks: [
      { head: /^description of workflow_step$/, missing: /./, added: /./ },
      { head: /^system prompt on workflows$/, missing: /workflow_step/, added: /workflow_step/ },
    ],
  },
  'flow-parameters': {
    says: 'the tool takes the outcome and the outputs of a phase',
    marks: [{ stream: 'requests', head: /^tool workflow_step$/, added: /^(outcome|outputs)\?: / }],
  },
  'definition-entry': {
    says: 'the definition in force is stored with the run',
    marks: [{ stream: 'entries', head: /^custom workflow:definition/, added: /./ }],
  },
  'run-entry': {
    says: 'reminders and pauses are stored with the run',
    marks: [{ stream: 'entries', head: /^custom workflow:run/, added: /./ }],
  },
  'tally-entry': {
    says: 'the counts for the summary at the end are stored with the run',
    marks: [{ stream: 'entries', head: /^custom workflow:tally/, added: /./ }],
  },
  D24: {
    says: 'the phases are shown in a widget, and the model reads the route once',
    marks: [
      { stream: 'widget', head: /^workflow-phases/, added: /./ },
      { stream: ['messages', 'requests'], head: /^(workflow:context|\+ user$)/, added: /^\*\*Phases:\*\* / },
    ],
  },
  D25: {
    says: 'a message about the end is plain text, and ends with what happened in the run',
    marks: [
      { missing: /^((✅|❌) |\*\*(Task|Task ID|Phases completed):\*\* )/, added: /^(✅|❌) |^(Task|Task ID|Phases completed): |Time: / },
      { added: /^\n?Time: / },
    ],
  },
  D26: {
    says: 'a session that is resumed or forked says which run continues',
    marks: [{ stream: 'dialogs', head: /^notify info$/, added: /(▶ The workflow continues|This session has a workflow): / }],
  },
  'host-display': {
    says: 'messages that are only shown never reach the model',
    marks: [{ stream: 'requests', head: /^\+ user$/, missing: announced }],
  },
  'Auto-continue': {
    says: 'no reminder after an error or at the length limit, and a run without further reminders is paused visibly',
    marks: [
      { stream: 'messages', head: /^workflow:paused \(shown\)$/, added: /paused/ },
      { stream: 'entries', head: /^custom_message workflow:paused$/, added: /./ },
      { stream: 'widget', missing: /Auto-continuing/ },
    ],
  },
  Context: {
    says: 'text that the conversation has is not repeated, and tools are listed with the phase',
    marks: [
      { stream: 'messages', head: /^workflow:context/, missing: context, added: shortened },
      { stream: 'requests', head: /^\+ user$/, missing: context, added: shortened },
      { stream: ['messages', 'requests'], added: /^\*\*(Tools|To leave this phase):\*\* |^Allowed in this phase: |^You do the work of this workflow yourself/m },
      { stream: ['messages', 'requests'], missing: /^You are the ORCHESTRATOR/m, added: /^You do the work of this workflow yourself/m },
      // Lines that one side leaves out between common lines.
      { stream: ['messages', 'requests'], head: /^(workflow:context|\+ user$)/, missing: leftOut },
      { stream: ['messages', 'requests'], head: /^(workflow:context|\+ user$)/, missing: leftOut, added: /^\*\*(Tools|To leave this phase):\*\* / },
      { stream: ['messages', 'requests', 'entries'], missing: reminder, added: reminder },
    ],
  },
  'Hidden characters': {
    says: 'control and invisible characters are shown as escapes',
    marks: [
      { missing: /./, added: /\\u\{2028\}/ },
      // The name of the session is in the head of its block.
      { stream: ['session', 'entries'], head: /\u2028/, missing: /\u2028/ },
      { stream: ['session', 'entries'], added: /\\u\{2028\}/ },
    ],
  },
  'Definition gone': { says: 'a run whose files are missing continues with its stored definition', marks: [] },
  'Strict keys': { says: 'a workflow with a guard that cannot be read does not start', marks: [] },
  A01: {
    says: 'the announcement of the end is stored',
    marks: [{ stream: 'entries', head: /^custom workflow:state/, missing: /^completionNotified false$/, added: /^completionNotified true$/ }],
  },
  A03: { says: 'a cancellation that waits for its confirmation is forgotten at any other action', marks: [] },
  A07: { says: 'at the end the path is the root\'s last entry', marks: [] },
  B01: { says: 'a cancellation is announced once', marks: [] },
  B02: {
    says: 'progress counts the phases of the innermost scope',
    // Text that the conversation has already may be left out.
    marks: [{ missing: /^\*\*Progress:\*\* .* in current scope\)(\n\n\*\*What to do in this phase:.*)?$/s, added: /^\*\*Progress:\*\* .* in current scope\)$/ }],
  },
  B03: {
    says: 'the previous and the next phase are those of the current scope, or the next one that is entered',
    marks: [{ missing: /^Here: .*before: .*after: /, added: /^Here: .*before: .*after: / }],
  },
  B05: {
    says: 'variables in instructions are resolved wherever instructions are shown',
    marks: [{ head: /^(result of workflow_step|\+ tool)/, missing: /\{\w+\}/, added: /^[^{}]*$/ }],
  },
  B07: { says: 'loop enters the first concrete phase', marks: [] },
  B11: { says: 'cancelling stops the countdown', marks: [] },
  B12: { says: 'a second start stops the countdown of the first', marks: [] },
  B13: { says: 'a prompt stops the countdown', marks: [] },
  B14: { says: 'the widget of a stopped countdown is cleared', marks: [{ stream: 'widget', head: /\(cleared\)$/, added: /./ }] },
  B29: { says: 'workflows of the project are completed too, with their names', marks: [{ stream: 'dialogs', missing: /^completions: /, added: /^completions: / }] },
  B31: { says: 'only workflows that can be started are offered', marks: [{ stream: 'dialogs', head: /^notify/, missing: /Available: /, added: /Available: / }] },
  B42: {
    says: 'the status bar shows the new phase at once instead of going blank',
    marks: [
      { stream: 'status', missing: /^workflow: \(cleared\)$/ },
      { stream: 'status', added: /^workflow: / },
    ],
  },
  'host-sequential': { says: 'calls of one message are decided and run one after another', marks: [] },
  'host-reload': {
    says: 'a countdown does not outlive a reload',
    marks: [
      { stream: 'widget', missing: /Auto-continuing in [12]s/ },
      { stream: 'widget', head: /\(cleared\)$/, missing: /./ },
    ],
  },
  'host-print': {
    says: 'a message that is only shown does not replace the printed answer',
    marks: [{ stream: 'process', head: /--print/, added: /./ }, { stream: 'entries', head: /^custom_message workflow:countdown/, missing: /./ }],
  },
  'host-trust': { says: 'workflows of a project that is not trusted are left out', marks: [{ stream: 'dialogs', head: /^notify/, missing: /foreign/ }] },
  'host-busy': { says: 'a start while the agent answers waits until it has finished', marks: [] },
  'host-order': {
    says: 'on 0.74.2 the end is announced at once, not with the next prompt',
    marks: [
      { stream: 'messages', head: /^workflow:complete/, added: announced },
      { stream: 'messages', head: /^workflow:complete/, missing: announced },
      { stream: 'entries', head: /^custom_message workflow:complete/, added: /./ },
      { stream: 'entries', head: /^custom_message workflow:complete/, missing: /./ },
    ],
  },
  'host-moved': {
    says: 'for the same reason the next prompt is on its other side',
    marks: [
      { stream: 'messages', head: /^user$/, missing: /^user\n/ },
      { stream: 'messages', head: /^user$/, added: /^user\n/ },
      { stream: 'entries', head: /^message user$/, missing: /./ },
      { stream: 'entries', head: /^message user$/, added: /./ },
    ],
  },
};
