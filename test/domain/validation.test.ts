/** Reads the members of a body, and reports all errors at once. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { escapePointer, ObjectReader, type ParseResult } from '../../src/domain/validation.ts';
import { catchAppError } from './validation-errors.ts';

function parseEven(value: unknown): ParseResult<number> {
  if (typeof value === 'number' && value % 2 === 0) return { value };
  return { error: { code: 'range', detail: 'Must be even.' } };
}

describe('ObjectReader', () => {
  for (const body of [undefined, null, true, 0, 'text', [], [{}]]) {
    test(`rejects ${JSON.stringify(body)}, which is not an object`, () => {
      const refusal = catchAppError(() => new ObjectReader(body));
      assert.equal(refusal.code, 'invalid_data');
      const [issue, ...more] = refusal.issues;
      assert.deepEqual([issue?.pointer, issue?.code, more.length], ['', 'type', 0]);
    });
  }

  test('returns the values of a valid body, and no error', () => {
    const reader = new ObjectReader({ a: 2, b: 0 });
    assert.equal(reader.read('a', parseEven), 2);
    assert.equal(reader.read('b', parseEven), 0);
    assert.equal(reader.findError(), undefined);
  });

  test('reports missing, invalid and unknown members in one error', () => {
    const reader = new ObjectReader({ c: 1, b: 1 });
    assert.equal(reader.read('a', parseEven), undefined);
    assert.equal(reader.read('b', parseEven), undefined);
    const error = reader.findError();
    assert.equal(error?.code, 'invalid_data');
    assert.deepEqual(error?.issues.map(({ pointer, code }) => [pointer, code]), [
      ['/a', 'required'], ['/b', 'range'], ['/c', 'unknown'],
    ]);
    assert.match(error?.publicDetail ?? '', /3 errors/);
    const unknown = error?.issues.at(-1)?.detail ?? '';
    assert.ok(unknown.includes('a, b'), 'the known members are named');
  });

  test('treats an inherited member as missing', () => {
    const reader = new ObjectReader({});
    assert.equal(reader.read('toString', () => ({ value: 'found' })), undefined);
    assert.deepEqual(reader.findError()?.issues.map(({ pointer, code }) => [pointer, code]), [
      ['/toString', 'required'],
    ]);
  });

  test('reports __proto__ as an unknown member', () => {
    const reader = new ObjectReader(JSON.parse('{"a":2,"__proto__":{"b":2}}'));
    assert.equal(reader.read('a', parseEven), 2);
    assert.equal(reader.read('b', parseEven), undefined);
    assert.deepEqual(reader.findError()?.issues.map(({ pointer, code }) => [pointer, code]), [
      ['/b', 'required'], ['/__proto__', 'unknown'],
    ]);
  });

  test('lists 50 errors and counts all of them', () => {
    const names = Array.from({ length: 51 }, (_, n) => `member-${n}`);
    const all = new ObjectReader(Object.fromEntries(names.map((name) => [name, 0]))).findError();
    assert.deepEqual(
      all?.issues.map(({ pointer }) => pointer), names.slice(0, 50).map((name) => `/${name}`),
    );
    assert.match(all?.publicDetail ?? '', /51 errors.*first 50/);
    const fifty = new ObjectReader(Object.fromEntries(names.slice(1).map((name) => [name, 0])));
    assert.match(fifty.findError()?.publicDetail ?? '', /50 errors(?!.*first)/);
  });

  test('stores only the listed ones of 29,000 unknown members, and counts all', () => {
    let escaped = 0;
    const names = Array.from({ length: 29_001 }, (_, n) => `member-${n}`);
    const reader = new ObjectReader(Object.fromEntries(names.map((name) => [name, 0])));
    const replaceAll = String.prototype.replaceAll;
    const { mock } = test.mock.method(String.prototype, 'replaceAll', function (
      this: string, ...args: Parameters<typeof replaceAll>
    ) {
      escaped += 1;
      return replaceAll.apply(this, args);
    });
    const error = reader.findError();
    mock.restore();
    assert.match(error?.publicDetail ?? '', /29001 errors; the first 50 are listed/);
    assert.equal(error?.issues.length, 50);
    assert.equal(escaped, 2 * 50);
  });

  test('uses the singular for one error', () => {
    assert.match(new ObjectReader({ a: 1 }).findError()?.publicDetail ?? '', /1 error\b/);
  });
});

test('escapes ~ and / in a JSON Pointer, ~ first', () => {
  for (const [token, escaped] of [
    ['', ''], ['a', 'a'], ['a/b', 'a~1b'], ['a~b', 'a~0b'], ['~1', '~01'], ['/~/', '~1~0~1'],
  ] as const) {
    assert.equal(escapePointer(token), escaped);
  }
});
