/**
 * The definitions for the package, with which it should behave like ours with the real ones: applies
 * the intended differences of differences/files.mjs.
 *
 * @module
 */

import { entangled, invalidOfBothTiers, refused, repaired, shadowing, without, withoutCommand } from "./differences/files.mjs";

/** @typedef {import("./types.mjs").Definitions & {globals: string[]}} PackageDefinitions  with the keys of the valid global workflows */

/**
 * @param {import("./types.mjs").Definitions} definitions
 * @param {(definitions: import("./types.mjs").Definitions) => Promise<{project: any, global: any} | null>} survey
 *   writes definitions on the package's disk and returns its reading of each directory
 * @param {(id: string) => void} note
 * @returns {Promise<PackageDefinitions | null>} null if the package crashed on them
 */
export async function definitionsForPackage(definitions, survey, note) {
  const tiers = { project: repaired(definitions.project, note), global: repaired(definitions.global, note) };
  const found = await survey({ ...definitions, ...tiers });
  if (!found) return null;
  for (const tier of /** @type {const} */ (["project", "global"])) {
    const reasons = refused(tiers[tier], found[tier]);
    for (const [key, id] of reasons) {
      note(id);
      delete found[tier][key];
    }
    tiers[tier] = without(tiers[tier], reasons.keys());
  }
  const invalid = invalidOfBothTiers(found.project, found.global);
  for (const tier of /** @type {const} */ (["project", "global"])) {
    for (const key of invalid[tier]) {
      note("B24");
      delete found[tier][key];
    }
    tiers[tier] = without(tiers[tier], invalid[tier]);
  }
  const globals = Object.keys(found.global).filter((key) => found.global[key].error === null);
  const merged = Object.assign(Object.create(null), found.global, found.project);
  const { gone, ids } = entangled(merged);
  for (const id of ids) note(id);
  for (const key of gone) delete merged[key];
  const shadows = shadowing(merged);
  if (shadows.length > 0) note("B32");
  const rest = (tree) => withoutCommand(without(tree, gone), shadows);
  return { ...definitions, project: rest(tiers.project), global: rest(tiers.global), globals };
}
