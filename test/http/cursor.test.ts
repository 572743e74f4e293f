/** Cursors: opaque, bound to their query, rejected when altered. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { makeCursors } from '../../src/http/cursor.ts';
import { forRandom } from '../domain/random.ts';
import { catchAppError } from '../domain/validation-errors.ts';

const cursors = makeCursors(Buffer.alloc(32, 1));
const QUERY = 'products of 5 by id';
const CURSOR = cursors.format(QUERY, 1_809_738_798_774_277) ?? '';

function assertRejected(cursor: string, query = QUERY, reader = cursors): void {
  const refusal = catchAppError(() => reader.parse(query, cursor));
  assert.equal(refusal.code, 'invalid_query');
  const faults = refusal.issues.map(({ parameter, code }) => [parameter, code]);
  assert.deepEqual(faults, [['cursor', 'format']]);
}

test('returns the anchor that it was created from', () => {
  const characters = ['0', '9', 'a', '"', '\\', ',', '\0', 'é', '😀', '\ufffd'];
  forRandom(500, (random) => {
    const key = Array.from({ length: random.below(30) }, () => random.pick(characters)).join('');
    const cursor = cursors.format(QUERY, { key, id: 1 }) ?? '';
    assert.match(cursor, /^[\w-]+$/, 'needs no escaping in a query');
    assert.deepEqual(cursors.parse(QUERY, cursor), { key, id: 1 });
  });
});

test('is the same in every process with the same key', () => {
  assert.equal(makeCursors(Buffer.alloc(32, 1)).parse(QUERY, CURSOR), 1_809_738_798_774_277);
});

test('is accepted in the format that is pinned here', () => {
  assert.equal(cursors.parse('movements 1', 'VhFUN6nDl8LbNn-VzmupwzQy'), 42);
  assert.deepEqual(cursors.parse('products 1 by id',
    'FAYSGcT9vhj4TwM83MAxOnsia2V5Ijo3LCJpZCI6N30'), { key: 7, id: 7 });
  assert.deepEqual(cursors.parse('stock 1 ', 'a-TyXzHgUyG_-ucxisy4kVs1LDld'), [5, 9]);
});

test('is undefined without an anchor, and has no anchor when missing', () => {
  assert.equal(cursors.format(QUERY, undefined), undefined);
  assert.equal(cursors.parse(QUERY, undefined), undefined);
});

describe('is rejected', () => {
  test('with any bit changed', () => {
    const bytes = Buffer.from(CURSOR, 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const altered = Buffer.from(bytes);
      altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assertRejected(altered.toString('base64url'));
    }
  });

  test('with any character changed, removed or inserted', () => {
    for (let at = 0; at <= CURSOR.length; at += 1) {
      for (const put of ['', 'A', 'z', '-', '_', '=', '.', ' ', '\n', 'é']) {
        for (const skipped of [0, 1]) {
          const altered = CURSOR.slice(0, at) + put + CURSOR.slice(at + skipped);
          if (altered !== CURSOR) assertRejected(altered);
        }
      }
    }
  });

  test('with other bytes than were signed, even if they decode to the same text', () => {
    const bytes = Buffer.from(cursors.format(QUERY, ['\ufffd']) ?? '', 'base64url');
    const altered = Buffer.concat([
      bytes.subarray(0, 16), Buffer.from('["'), Buffer.from([0xff]), Buffer.from('"]'),
    ]);
    assertRejected(altered.toString('base64url'));
  });

  test('in another encoding of the same bytes', () => {
    assertRejected(`${CURSOR}=`);
    const cursor = cursors.format(QUERY, ['>>>???']) ?? '';
    const standard = Buffer.from(cursor, 'base64url').toString('base64');
    if (standard !== cursor) assertRejected(standard);
  });

  test('for another query, or with the boundary between scope and anchor moved', () => {
    for (const query of ['', 'products of 6 by id', `${QUERY} `, QUERY.toUpperCase()]) {
      assertRejected(CURSOR, query);
    }
    const moved = Buffer.concat([
      Buffer.from(cursors.format('a', 12) ?? '', 'base64url').subarray(0, 16), Buffer.from('2'),
    ]);
    assertRejected(moved.toString('base64url'), 'a1');
  });

  test('with another key', () => assertRejected(CURSOR, QUERY, makeCursors(Buffer.alloc(32, 2))));

  test('of another generation, which it cannot be relabelled for', () => {
    const restored = makeCursors(Buffer.alloc(32, 1), 'abcde');
    const cursor = restored.format(QUERY, 5) ?? '';
    assert.match(cursor, /^abcde\.[\w-]+$/);
    assert.equal(restored.parse(QUERY, cursor), 5);
    for (const [reader, text] of [[restored, CURSOR], [cursors, cursor],
      [makeCursors(Buffer.alloc(32, 1), 'fghij'), cursor]] as const) {
      assert.equal(catchAppError(() => reader.parse(QUERY, text)).code, 'history_pruned');
    }
    const signed = cursor.slice('abcde.'.length);
    for (const text of [`abcde.${CURSOR}`, signed, `fghij.${signed}`, `${cursor}.a`, 'abcde.']) {
      assertRejected(text, QUERY, restored);
    }
  });

  const malformed = ['', 'A', 'AAAA', '0', 'null', '%', 'A'.repeat(22), 'A'.repeat(100_000), '\0'];
  for (const text of malformed) {
    test(`as ${JSON.stringify(text.slice(0, 30))}`, () => assertRejected(text));
  }
});
