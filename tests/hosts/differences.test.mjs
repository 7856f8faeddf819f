import assert from 'node:assert/strict';
import { test } from 'node:test';

import { differences, explain } from './differences.mjs';

/** @param {string} stream @param {string} head @param {...string} body @returns {any} */
const block = (stream, head, ...body) => ({ stream, head, body });

test('equal recordings have no differences', () => {
  const blocks = [block('messages', 'user', 'hi'), block('status', 'w: A')];
  assert.deepEqual(differences(blocks, blocks), []);
});

test('the order between streams does not count, the order within one does', () => {
  const [user, status, other] = [block('messages', 'user'), block('status', 'w: A'), block('status', 'w: B')];
  assert.deepEqual(differences([user, status, other], [status, user, other]), []);
  assert.equal(differences([status, other], [other, status]).length, 2);
});

test('blocks with the same head are compared line by line, each range by itself', () => {
  const found = differences([block('messages', 'user', 'a', 'b', 'c', 'd')], [block('messages', 'user', 'A', 'b', 'c')]);
  assert.deepEqual(found, [
    { stream: 'messages', head: 'user', missing: ['a'], added: ['A'] },
    { stream: 'messages', head: 'user', missing: ['d'], added: [] },
  ]);
});

test('a block of one side only is reported with all its lines', () => {
  const found = differences([block('status', 'w: A')], [block('status', 'w: A'), block('status', 'w: B', 'x')]);
  assert.deepEqual(found, [{ stream: 'status', head: 'w: B', missing: [], added: ['w: B', 'x'] }]);
});

test('an intended difference explains what its marks match, on both sides', () => {
  const intended = { B02: { says: 'total of the scope', marks: [{ missing: /1\/4/, added: /1\/2/ }] } };
  const found = differences([block('messages', 'c', '1/4', 'x'), block('status', 's')], [block('messages', 'c', '1/2', 'x')]);
  const { differences: explained, unmatched } = explain(found, ['B02'], intended);
  assert.deepEqual(explained.map(({ id }) => id), ['B02', undefined]);
  assert.deepEqual(unmatched, []);
});

test('a mark without added lines does not explain added lines', () => {
  const intended = { X: { says: '', marks: [{ missing: /a/ }] } };
  const found = differences([block('messages', 'c', 'a')], [block('messages', 'c', 'b')]);
  assert.deepEqual(explain(found, ['X'], intended).unmatched, ['X']);
});

test('where two runs diverge, one id explains the other differences, and must occur', () => {
  const intended = { A: { says: '', marks: [{ missing: /a/ }] }, P: { says: '', marks: [] } };
  const found = differences([block('messages', 'c', 'a', 'x', 'b')], [block('messages', 'c', 'x', 'c')]);
  assert.deepEqual(explain(found, ['A'], intended, 'P').differences.map(({ id }) => id), ['A', 'P']);
  assert.deepEqual(explain([], [], intended, 'P').unmatched, ['P']);
});

test('an id that is not in the table is an error', () => {
  assert.throws(() => explain([], ['Z99'], {}), /Z99/);
});
