/** Uploaded files: slow uploads, ended sessions, and the format of the content. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { AppError } from '../../../../src/domain/error.ts';
import {
  guardUpload, readFileHead,
} from '../../../../src/features/portal/imports/uploaded-file.ts';
import {
  EXAMPLE_LIMIT_CHARACTERS, EXAMPLE_ROWS, UPLOAD_GRACE_MS, UPLOAD_MIN_RATE_BYTES_PER_SECOND,
} from '../../../../src/features/portal/limits.ts';
import { chunksOf } from './setup.ts';

const read = (text: string | Buffer) => readFileHead(() => chunksOf(text));

describe('detects', () => {
  for (const [kind, text] of [
    ['NDJSON', '{"sku":"A"}\n'],
    ['NDJSON after a byte order mark', '\uFEFF{"sku":"A"}\n'],
    ['NDJSON after blank lines', '\r\n \n{"sku":"A"}\n'],
  ] as const) {
    test(kind, async () => assert.equal((await read(text)).format, 'ndjson'));
  }

  test('CSV, with its header and its first rows', async () => {
    const rows = Array.from({ length: 10 }, (_, n) => `"Mug, ${n}";${n}`);
    assert.deepEqual(await read(`\uFEFFTitle;Code\r\n${rows.join('\r\n')}`), {
      format: 'csv', kind: 'products', header: ['Title', 'Code'],
      examples: Array.from({ length: EXAMPLE_ROWS }, (_, n) => [`Mug, ${n}`, `${n}`]),
    });
  });

  test('CSV in a chosen encoding, with the rows that depend on it first', async () => {
    const rows = `${'Mug;1\n'.repeat(900)}Größe;2\n`;
    const head = await readFileHead(() => chunksOf(Buffer.from(`Title;Code\n${rows}`, 'latin1')),
      { encoding: 'windows-1252' });
    assert.equal(head.encoding, 'windows-1252');
    assert.deepEqual(head.examples[0], ['Größe', '2']);
  });

  test('CSV, with the columns that are no quantities in spite of their names', async () => {
    const rows = 'A;1;500;g\n'.repeat(10);
    const { untrusted, kind } = await read(`SKU;In stock;Menge;Einheit\n${rows}`);
    assert.deepEqual([untrusted, kind], [[1, 2], 'products']);
    assert.equal((await read(`SKU;In stock\n${'A;1\n'.repeat(10)}A;7\n`)).kind, 'stock');
  });

  test('CSV, whose long cells are shortened', async () => {
    const head = await read(`Title,Code\n${'x'.repeat(EXAMPLE_LIMIT_CHARACTERS + 1)},1\n`);
    assert.equal(head.format, 'csv');
    assert.deepEqual(head.examples[0], ['x'.repeat(EXAMPLE_LIMIT_CHARACTERS), '1']);
  });

  test('CSV, with its header if a row is invalid', async () => {
    const head = await read('Title,Code\n"Mug,1\n');
    assert.deepEqual(head, {
      format: 'csv', kind: 'products', header: ['Title', 'Code'], examples: [],
    });
  });
});

describe('recognizes', () => {
  for (const [kind, text] of [
    ['stock', 'sku,stock\nM-1,9\n'],
    ['stock', '\uFEFFArtikelnummer;Bestand\r\nM-1;9\r\n'],
    ['stock', '{"sku":"M-1","set":9}\n{"sku":"M-1","name":"Mug"}\n'],
    ['stock', '\uFEFF\n{"id":"prd_1", "adjust" : -1}\n'],
    ['products', 'sku,price,stock\nM-1,5,9\n'],
    ['products', '{"sku":"M-1","stock":9}\n'],
    ['products', '{"sku":"M-1","name":"the \\"set\\": 5","price":3}\n'],
  ] as const) {
    test(`${kind} in ${JSON.stringify(text)}`, async () =>
      assert.equal((await read(text)).kind, kind));
  }
});

describe('rejects by content', () => {
  for (const [kind, bytes, detail] of [
    ['an empty file', '', /empty/],
    ['blank lines', '\n\n', /empty/],
    ['a part of a workbook', Buffer.from('PK\x03\x04rest'), /The workbook is damaged/],
    ['a compound file', Buffer.from('d0cf11e0a1b11ae1', 'hex'), /The file is no workbook/],
    ['gzip', gzipSync('sku\n'), /Decompress/],
    ['a PDF', '%PDF-1.7', /PDF/],
    ['a JSON array', '[{"sku":"A"}]', /JSON array/],
    ['another encoding', Buffer.from('sku;Größe\n', 'latin1'), /not UTF-8.*encoding=windows-1252/],
    ['a quote that is never closed', '"sku,name\n', /never closed/],
  ] as const) {
    test(kind, async () => {
      await assert.rejects(read(bytes), { code: 'invalid_data', message: detail });
    });
  }
});

const HOUR_S = 3_600;

test('accepts an upload at the minimum rate', async () => {
  const { content, now } = trickle(UPLOAD_MIN_RATE_BYTES_PER_SECOND, HOUR_S);
  const chunks = await Array.fromAsync(guardUpload(content, async () => {}, now));
  assert.equal(Buffer.concat(chunks).length, UPLOAD_MIN_RATE_BYTES_PER_SECOND * HOUR_S);
});

test('aborts a slower upload after the grace period', async () => {
  const { content, now } = trickle(1, HOUR_S);
  const upload = guardUpload(content, async () => {}, now);
  await assert.rejects(Array.fromAsync(upload), { code: 'request_timeout' });
  assert.ok(now() > UPLOAD_GRACE_MS && now() <= UPLOAD_GRACE_MS + 1_000, String(now()));
});

test('ends an upload within 15 s of the end of its session', async () => {
  const { content, now } = trickle(UPLOAD_MIN_RATE_BYTES_PER_SECOND, HOUR_S);
  const upload = guardUpload(content, async () => {
    if (now() >= 60_000) throw new AppError('browser_refused', 'Signed out.');
  }, now);
  await assert.rejects(Array.fromAsync(upload), { code: 'browser_refused' });
  assert.ok(now() < 60_000 + 16_000, String(now()));
});

test('rejects an upload whose session ends in its last second', async () => {
  const { content, now } = trickle(UPLOAD_MIN_RATE_BYTES_PER_SECOND, 5);
  const upload = guardUpload(content, async () => {
    if (now() >= 4_000) throw new AppError('browser_refused', 'Signed out.');
  }, now);
  await assert.rejects(Array.fromAsync(upload), { code: 'browser_refused' });
});

/** Yields this many bytes per second of a clock that reading advances. */
function trickle(bytesPerSecond: number, seconds: number) {
  let elapsedMs = 0;
  async function* make() {
    for (let n = 0; n < seconds; n += 1) {
      elapsedMs += 1_000;
      yield Buffer.alloc(bytesPerSecond);
    }
  }
  return { content: make(), now: () => elapsedMs };
}
