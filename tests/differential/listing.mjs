/**
 * The order in which workflows are listed: global keys first, in byte order, then the project's.
 * A JavaScript object puts integer-like keys first (B38); everything else is as the package has it.
 *
 * @module
 */

const isIntegerLike = (key) => /^(0|[1-9]\d{0,9})$/.test(key);
/** Lists the workflows that can be started, in the order of ours. @param {any[]} listed  as the package lists it @param {{globals: string[]}} packageDefinitions */
export function ordered(listed, { globals }) {
  const startable = listed.filter((workflow) => workflow.show === "user");
  if (!startable.some((workflow) => isIntegerLike(workflow.key))) return startable;
  const rank = (workflow) => (globals.includes(workflow.key) ? 0 : 1);
  return startable.sort((a, b) => rank(a) - rank(b) || Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)));
}
