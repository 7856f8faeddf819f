/**
 * Workflow definitions for scenarios, as files: JSON is YAML too.
 */

/** @typedef {{id: string, name: string, emoji: string, does?: string} & Record<string, unknown>} Phase */

/** @param {Phase} phase */
const phaseFile = ({ does = 'Work on {description}.', ...front }) => `---\n${JSON.stringify(front)}\n---\n\n${does}\n`;

/**
 * Creates a workflow's directory; a phase is a phase or the key of a subworkflow.
 *
 * @param {string} name
 * @param {(Phase | string)[]} phases
 * @param {Record<string, unknown>} [keys]  further keys of workflow.yaml
 * @returns {import('./sandbox.mjs').Tree}
 */
export function workflow(name, phases, keys = {}) {
  const listed = phases.map((phase) => (typeof phase === 'string' ? { subworkflow: phase } : `${phase.id}.md`));
  const definition = { name, commandName: name.toLowerCase(), initialMessage: 'Begin {workflowName}: {description}', phases: listed, ...keys };
  const files = phases.flatMap((phase) => (typeof phase === 'string' ? [] : [[`${phase.id}.md`, phaseFile(phase)]]));
  return { 'workflow.yaml': `${JSON.stringify(definition, null, 1)}\n`, ...Object.fromEntries(files) };
}

/** @param {string} name @param {string} emoji @param {Record<string, unknown>} [keys] @returns {Phase} */
export const phase = (name, emoji, keys = {}) => ({ id: name.toLowerCase(), name, emoji, ...keys });

/** Three phases: the first has a blacklist, the second a whitelist. */
export const demo = workflow('Demo', [
  phase('Explore', '🔍', { tools: { blacklist: ['edit', 'write'] }, does: 'Look at {description}. Next: {nextPhaseName}.' }),
  phase('Build', '🔨', { tools: { whitelist: ['read', 'edit', 'write'] }, availableProfiles: ['builder'], does: 'Change {description} after {previousPhaseName}.' }),
  phase('Check', '✅', { does: 'Check {description}.' }),
]);

const template = 'Here: {phaseName}, before: {previousPhaseName}, after: {nextPhaseName}, step {globalStepCount}.';

/** Workflows nested three levels deep. */
export const nested = {
  outer: workflow('Outer', [phase('Intro', '🎬', { does: template }), 'middle', phase('Outro', '🏁', { does: template })]),
  middle: workflow('Middle', [phase('Draft', '📝', { does: template }), 'deep', phase('Polish', '🧽', { does: template })], { show: 'workflows', loopable: true }),
  deep: workflow('Deep', [phase('Cut', '🔪', { does: template, tools: { blacklist: ['bash'] } }), phase('Glue', '🧴', { does: template })], { show: 'workflows' }),
};

/** Creates the user's settings, as files of the agent directory. @param {Record<string, unknown>} keys */
export const settings = (keys) => ({ 'workflow-sidecar.json5': JSON.stringify(keys) });

/** Milliseconds that are longer than a countdown of three seconds. */
export const BEYOND_COUNTDOWN_MS = 3_600;

/** Matches the countdown's ticks, for scenarios that are not about it. @param {import('./recording.mjs').Block} block */
export const ticks = ({ stream, body }) => stream === 'widget' && /\b[12]s\b/.test(body.join());
