/**
 * The intended differences between our extension and the npm package, by their ids.
 *
 * A mark says how the difference shows in a recording; a scenario lists the ids it shows. An id without a
 * scenario does not belong here.
 */

/** @type {Record<string, import('./differences.mjs').Intended>} */
export const intended = {};
