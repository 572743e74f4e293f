/** Rows as text: values survive a round trip, in the format that PostgreSQL writes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatLine, parseLine } from '../../../src/store/move/copy-text.ts';

const COLUMNS = (['INTEGER', 'TEXT', 'BLOB', 'TEXT'] as const).map((type, n) =>
  ({ name: `c${n}`, type, expression: `c${n}` }));

test('formats values as COPY does', () => {
  assert.equal(formatLine([7, 'a', new Uint8Array([0, 255]), null]), '7\ta\t\\\\x00ff\t\\N');
  assert.equal(formatLine(['\b\f\n\r\t\v\\', '\\N', '']), '\\b\\f\\n\\r\\t\\v\\\\\t\\\\N\t');
  assert.throws(() => formatLine([1n]), TypeError);
});

test('returns the values that were formatted', () => {
  const texts = ['', '\\', '\\N', '\\\\N', '\\.', '\\x41', '\\t', '\t\\\n', 'ä🍎\u2028', '\x01'];
  for (const text of texts) {
    const values = [-5, text, Buffer.from(text), null];
    const line = formatLine(values);
    assert.ok(!line.includes('\n'));
    assert.deepEqual(parseLine(line, COLUMNS), values);
    assert.deepEqual(parseLine(line, COLUMNS, COLUMNS.slice(1, 2)), [text]);
  }
});

test('rejects a line with other columns', () => {
  for (const line of ['1\ta\t\\\\x', '1\ta\t\\\\x\tb\tc', '']) {
    assert.throws(() => parseLine(line, COLUMNS), TypeError);
  }
});
