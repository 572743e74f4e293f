/** What is told of a file by its beginning. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { readFileHead } from '../../../../src/features/portal/imports/file-head.ts';
import { EXAMPLE_LIMIT_CHARACTERS, EXAMPLE_ROWS } from '../../../../src/features/portal/limits.ts';
import { chunksOf } from './setup.ts';

const read = (text: string | Buffer) => readFileHead(() => chunksOf(text));

describe('a file is', () => {
  for (const [kind, text] of [
    ['lines of JSON', '{"sku":"A"}\n'],
    ['lines of JSON with a mark before them', '\uFEFF{"sku":"A"}\n'],
    ['lines of JSON after blank ones', '\r\n \n{"sku":"A"}\n'],
  ] as const) {
    test(kind, async () => assert.deepEqual(await read(text), { format: 'ndjson' }));
  }

  test('a table, of which the header and the first rows are told', async () => {
    const rows = Array.from({ length: 10 }, (_, n) => `"Mug, ${n}";${n}`);
    assert.deepEqual(await read(`\uFEFFTitle;Code\r\n${rows.join('\r\n')}`), {
      format: 'csv', header: ['Title', 'Code'],
      examples: Array.from({ length: EXAMPLE_ROWS }, (_, n) => [`Mug, ${n}`, `${n}`]),
    });
  });

  test('a table, the long cells of which are cut', async () => {
    const head = await read(`Title,Code\n${'x'.repeat(EXAMPLE_LIMIT_CHARACTERS + 1)},1\n`);
    assert.equal(head.format, 'csv');
    const [row] = head.format === 'csv' ? head.examples : [];
    assert.deepEqual(row, ['x'.repeat(EXAMPLE_LIMIT_CHARACTERS), '1']);
  });

  test('a table with its header, where a row cannot be read', async () => {
    const head = await read('Title,Code\n"Mug,1\n');
    assert.deepEqual(head, { format: 'csv', header: ['Title', 'Code'], examples: [] });
  });
});

describe('a file is refused, by what it is:', () => {
  for (const [kind, bytes, detail] of [
    ['nothing', '', /empty/],
    ['blank lines', '\n\n', /empty/],
    ['a new workbook', Buffer.from('PK\x03\x04rest'), /workbook.*CSV UTF-8/],
    ['an old workbook', Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1]), /\.xls\).*CSV UTF-8/],
    ['gzip', gzipSync('sku\n'), /Decompress/],
    ['a document', '%PDF-1.7', /PDF/],
    ['UTF-16', Buffer.from('\uFEFFsku,name\n', 'utf16le'), /UTF-16.*CSV UTF-8/],
    ['a quote without an end', '"sku,name\n', /never closed/],
  ] as const) {
    test(kind, async () => {
      await assert.rejects(read(bytes), { code: 'invalid_data', message: detail });
    });
  }
});
