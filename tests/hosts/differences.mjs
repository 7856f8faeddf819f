/**
 * Comparison of two recordings, and the intended difference that explains each deviation.
 *
 * Generic over streams, blocks and lines; the table of intended differences is a parameter.
 */

/** @typedef {import('./recording.mjs').Block} Block */

/**
 * @typedef {object} Difference
 * @property {string} stream
 * @property {string} head       of the block it is in
 * @property {string[]} missing  lines that only the first recording has
 * @property {string[]} added    lines that only the second has
 * @property {string} [id]       of the intended difference that explains it
 */

/**
 * A pattern of the deviations that an intended difference explains. The given fields must match; `missing` and `added`
 * are matched against the lines joined by line feeds, and if left out there must be no such lines.
 *
 * @typedef {object} Mark
 * @property {string | string[]} [stream]
 * @property {RegExp} [head]
 * @property {RegExp} [missing]
 * @property {RegExp} [added]
 */

/** @typedef {{says: string, marks: Mark[]}} Intended */

/**
 * Lists the differences of the second recording from the first.
 *
 * @param {Block[]} first
 * @param {Block[]} second
 * @returns {Difference[]}
 */
export function differences(first, second) {
  const streams = new Set([...first, ...second].map(({ stream }) => stream));
  return [...streams].flatMap((stream) => inStream(first.filter((block) => block.stream === stream), second.filter((block) => block.stream === stream)));
}

/**
 * Adds the id of the intended difference that explains it to each difference, and lists the ids that explained nothing.
 *
 * @param {Difference[]} found
 * @param {string[]} ids                        the ids that are intended here
 * @param {Record<string, Intended>} intended
 * @param {string} [fallback]                   an id that explains all other differences
 * @returns {{differences: Difference[], unmatched: string[]}}
 */
export function explain(found, ids, intended, fallback) {
  const marked = ids.map((id) => ({ id, marks: known(id, intended).marks }));
  if (fallback !== undefined) known(fallback, intended);
  const explained = found.map((difference) => {
    const id = marked.find(({ marks }) => marks.some((mark) => matches(mark, difference)))?.id ?? fallback;
    return id === undefined ? difference : { ...difference, id };
  });
  const expected = fallback === undefined ? ids : [...ids, fallback];
  return { differences: explained, unmatched: expected.filter((id) => !explained.some((difference) => difference.id === id)) };
}

/** Formats a difference. @param {Difference} difference */
export const asText = ({ stream, head, missing, added, id }) =>
  [`${id ? `[${id}] ` : ''}${stream}: ${head}`, ...missing.map((line) => `  - ${line}`), ...added.map((line) => `  + ${line}`)].join('\n');

/** @param {string} id @param {Record<string, Intended>} intended */
function known(id, intended) {
  const entry = intended[id];
  if (!entry) throw new Error(`${id} is not in the table of intended differences`);
  return entry;
}

/** @param {Mark} mark @param {Difference} difference */
function matches(mark, { stream, head, missing, added }) {
  const fits = (/** @type {RegExp | undefined} */ pattern, /** @type {string[]} */ lines) =>
    pattern ? lines.length > 0 && pattern.test(lines.join('\n')) : lines.length === 0;
  if (mark.stream !== undefined && ![mark.stream].flat().includes(stream)) return false;
  if (mark.head !== undefined && !mark.head.test(head)) return false;
  return fits(mark.missing, missing) && fits(mark.added, added);
}

/** @param {Block[]} first @param {Block[]} second @returns {Difference[]} */
function inStream(first, second) {
  const whole = (/** @type {Block} */ { head, body }) => [head, ...body].join('\n');
  return gaps(first, second, whole).flatMap(([left, right]) => pairUp(left, right));
}

/** Compares unequal blocks: those with the same head line by line. @param {Block[]} left @param {Block[]} right */
function pairUp(left, right) {
  /** @type {Difference[]} */
  const found = [];
  const alone = (/** @type {Block} */ { stream, head, body }, /** @type {'missing' | 'added'} */ side) =>
    found.push({ stream, head, missing: [], added: [], [side]: [head, ...body] });
  walk(left, right, ({ head }) => head, {
    both: (a, b) => {
      for (const [missing, added] of gaps(a.body, b.body, (line) => line)) found.push({ stream: a.stream, head: a.head, missing, added });
    },
    left: (block) => alone(block, 'missing'),
    right: (block) => alone(block, 'added'),
  });
  return found;
}

/**
 * Lists the ranges in which two lists differ.
 *
 * @template T
 * @param {T[]} left
 * @param {T[]} right
 * @param {(item: T) => string} key
 * @returns {[T[], T[]][]}
 */
function gaps(left, right, key) {
  /** @type {[T[], T[]][]} */
  const found = [];
  /** @type {[T[], T[]]} */
  let open = [[], []];
  const shut = () => {
    if (open[0].length + open[1].length > 0) found.push(open);
    open = [[], []];
  };
  walk(left, right, key, { both: shut, left: (item) => open[0].push(item), right: (item) => open[1].push(item) });
  shut();
  return found;
}

/**
 * Walks two lists along their longest common subsequence.
 *
 * @template T
 * @param {T[]} left
 * @param {T[]} right
 * @param {(item: T) => string} key
 * @param {{both: (a: T, b: T) => void, left: (item: T) => void, right: (item: T) => void}} visit
 */
function walk(left, right, key, visit) {
  const a = left.map(key);
  const b = right.map(key);
  const length = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      length[i][j] = a[i] === b[j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
    }
  }
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) visit.both(left[i++], right[j++]);
    else if (j === b.length || (i < a.length && length[i + 1][j] >= length[i][j + 1])) visit.left(left[i++]);
    else visit.right(right[j++]);
  }
}
