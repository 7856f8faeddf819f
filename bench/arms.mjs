/**
 * Arms are taken in turn, A B A B, so that a machine that gets slower or faster does so for all.
 *
 * @module
 */

/**
 * What each arm gave, round by round; the first round is a warm-up and left out.
 *
 * @template T
 * @param {number} rounds @param {(() => Promise<T>)[]} arms @returns {Promise<T[][]>}
 */
export async function inTurn(rounds, ...arms) {
  const taken = arms.map(() => /** @type {T[]} */ ([]));
  for (let round = 0; round <= rounds; round++) {
    // The one that goes first changes.
    const order = arms.map((_, index) => (index + round) % arms.length);
    for (const index of order) {
      const sample = await arms[index]();
      if (round > 0 || rounds === 0) taken[index].push(sample);
    }
  }
  return taken;
}
