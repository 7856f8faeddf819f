/**
 * Reduction of a failing case with the same kind of difference: fewer operations, then fewer
 * workflows. Greedy and bounded; the result is for reading, the seed is the reference.
 *
 * @module
 */

const MOST_RUNS = 150;

/** Shrinks a case. The first operation stays: a host always opens the session. @param {import("./types.mjs").Case} case_ @param {(case_: import("./types.mjs").Case) => Promise<boolean>} fails */
export async function shrink(case_, fails) {
  let best = case_;
  let runs = 0;
  const attempt = async (smaller) => {
    if (runs++ >= MOST_RUNS || !(await fails(smaller))) return false;
    best = smaller;
    return true;
  };
  for (let size = best.operations.length >> 1; size >= 1; size >>= 1) {
    for (let at = best.operations.length - size; at >= 1; at -= size) {
      await attempt({ ...best, operations: [...best.operations.slice(0, at), ...best.operations.slice(at + size)] });
    }
  }
  for (const tier of /** @type {const} */ (["global", "project"])) {
    for (const directory of new Set(Object.keys(best.definitions[tier]).map((path) => path.split("/")[0]))) {
      const tree = Object.fromEntries(Object.entries(best.definitions[tier]).filter(([path]) => path.split("/")[0] !== directory));
      await attempt({ ...best, definitions: { ...best.definitions, [tier]: tree } });
    }
  }
  return best;
}
