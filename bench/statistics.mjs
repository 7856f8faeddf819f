/**
 * What a list of numbers says.
 *
 * @module
 */

/** @param {number[]} numbers @param {number} share  0 to 1 */
export function quantile(numbers, share) {
  const sorted = Float64Array.from(numbers).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

/** @param {number[]} numbers */
export const median = (numbers) => quantile(numbers, 0.5);

/** A figure with its spread. @param {number[]} numbers @returns {Figure} */
export function figure(numbers) {
  return { value: median(numbers), low: Math.min(...numbers), high: Math.max(...numbers) };
}

/** Of two arms that were taken in turn: the ratio of each round, as a figure. @param {number[]} one @param {number[]} other */
export function ratio(one, other) {
  return figure(one.map((value, round) => value / other[round]));
}

/** @typedef {{value: number, low: number, high: number}} Figure */
