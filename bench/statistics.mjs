/**
 * Interleaved samples, their ratios, and rows of the table.
 *
 * @module
 */

/**
 * Takes the samples of each arm, round by round. The first round is a warm-up and not counted, unless it is the only one.
 *
 * @param {number} rounds @param {(() => Promise<number>)[]} arms @returns {Promise<number[][]>}
 */
export async function inTurn(rounds, ...arms) {
  const samples = arms.map(() => /** @type {number[]} */ ([]));
  for (let round = 0; round <= rounds; round++) {
    for (let turn = 0; turn < arms.length; turn++) {
      const index = (turn + round) % arms.length;
      const sample = await arms[index]();
      if (round > 0 || rounds === 0) samples[index].push(sample);
    }
  }
  return samples;
}

/** Returns the median. @param {number[]} numbers */
export function median(numbers) {
  const sorted = Float64Array.from(numbers).sort();
  return sorted[Math.floor(sorted.length / 2)];
}

/** Returns the median with its spread. @param {number[]} numbers @returns {Figure} */
export function figure(numbers) {
  return { value: median(numbers), low: Math.min(...numbers), high: Math.max(...numbers) };
}

/** Returns the ratio of two arms, round by round. @param {number[]} one @param {number[]} other */
export function ratio(one, other) {
  return figure(one.map((value, round) => value / other[round]));
}

/** A row with an upper bound. @param {string} name @param {number} bound @param {Figure} figure @returns {Row} */
export const atMost = (name, bound, figure, unit = "×") => ({ name, figure, unit, bound: `≤ ${bound}`, met: figure.value <= bound });

/** A row with a lower bound. @param {string} name @param {number} bound @param {Figure} figure @returns {Row} */
export const atLeast = (name, bound, figure, unit = "×") => ({ name, figure, unit, bound: `≥ ${bound}`, met: figure.value >= bound });

/** @typedef {{value: number, low: number, high: number}} Figure */
/** @typedef {{name: string, figure: Figure, unit: string, bound: string, met: boolean}} Row */
