/**
 * The order in which workflows are listed: global keys first, in byte order, then the project's.
 * A JavaScript object puts integer-like keys first (B38); everything else is as the package has it.
 *
 * @module
 */

const isIntegerLike = (key) => /^(0|[1-9]\d{0,9})$/.test(key);
const directories = (tree) => new Set(Object.keys(tree).map((path) => path.split("/")[0]));

/** What can be started, in ours' order. @param {any[]} listed  as the package lists it @param {import("./types.mjs").Definitions} definitions */
export function ordered(listed, { global }) {
  const startable = listed.filter((workflow) => workflow.show === "user");
  if (!startable.some((workflow) => isIntegerLike(workflow.key))) return startable;
  const globals = directories(global);
  const rank = (workflow) => (globals.has(workflow.key) ? 0 : 1);
  return startable.sort((a, b) => rank(a) - rank(b) || Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)));
}
