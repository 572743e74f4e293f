/** Files that are no rows of text are called what they are, however their chunks are cut. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { checkRows, isWorkbookStart } from '../../src/transfer/foreign-file.ts';
import { chunksOf } from './read.ts';

async function readWhole(
  content: string | Uint8Array, sizeBytes: number, format: 'csv' | 'ndjson',
): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of checkRows(chunksOf(content, sizeBytes), format)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test('names workbooks, PDF, gzip and JSON arrays, and says what to send instead', async () => {
  const long = ' '.repeat(1_000);
  const workbook = /This is a workbook .*(?:"CSV UTF-8"|Send a workbook as CSV)/;
  for (const [content, message] of [
    [`PK\x03\x04${long}`, workbook],
    [Buffer.from('d0cf11e0a1b11ae100', 'hex'), workbook],
    [gzipSync('sku,stock'), /compressed with gzip.*Decompress it/],
    [`%PDF-1.7${long}`, /This is a PDF/],
    ['[{"sku":"A","set":1}]', /JSON array\. Send NDJSON/],
    ['\uFEFF [\r\n  {"sku":"A"}\n]', /JSON array/],
    ['[]', /JSON array/],
    [`\r\n<!DOCTYPE html><html>${long}`, /HTML or XML.* Open it in a spreadsheet/],
    [`<?xml version="1.0"?><Workbook>${long}`, /HTML or XML/], ['<table><tr><td>sku', /HTML/],
  ] as const) {
    for (const format of ['csv', 'ndjson'] as const) {
      for (const size of [1, 10_000]) {
        await assert.rejects(readWhole(content, size, format), { code: 'invalid_data', message });
      }
    }
  }
});

test('names JSON that is sent as CSV', async () => {
  const line = '{"sku":"A","set":1}\n';
  await assert.rejects(readWhole(line, 1, 'csv'), { message: /This is JSON, not CSV/ });
  assert.equal(await readWhole(line, 1, 'ndjson'), line);
});

test('passes rows on unchanged', async () => {
  for (const text of ['', 'a', '[sku],[stock]\r\nA,1\r\n', `{sku},${'x'.repeat(200)}`,
    '<sku>,<stock>\n']) {
    for (const size of [1, 63, 64, 10_000]) assert.equal(await readWhole(text, size, 'csv'), text);
  }
});

test('recognises what may be a workbook by its first bytes', () => {
  for (const bytes of ['504b0304', '504b0506', 'd0cf11e0a1b11ae1'].map((hex) =>
    Buffer.from(hex, 'hex'))) {
    assert.ok(isWorkbookStart(bytes) && isWorkbookStart(Buffer.concat([bytes, Buffer.alloc(9)])));
  }
  for (const text of ['', 'PK', 'sku,stock\n', '{"sku":"a"}', 'PK\x03,sku']) {
    assert.ok(!isWorkbookStart(Buffer.from(text)), text);
  }
});
