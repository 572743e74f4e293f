/** Reading CSV: which text is accepted, and which is rejected as ambiguous. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import {
  IMPORT_BLANK_LINES_LIMIT, IMPORT_COLUMNS_LIMIT, IMPORT_RECORD_LIMIT_BYTES,
} from '../../src/transfer/limits.ts';
import { CsvReader } from '../../src/transfer/csv-reader.ts';
import { makeRandom, type Random } from '../domain/random.ts';
import { chunksOf, readRecords } from './read.ts';

const cellsOf = async (content: string, sizeBytes?: number): Promise<(readonly string[])[]> =>
  (await readRecords(content, sizeBytes)).map(({ cells }) => cells);

test('reads records that end in CRLF, LF, CR or at the end of the file', async () => {
  for (const end of ['\r\n', '\n', '\r']) {
    const expected = [['a', 'b'], ['1', '2'], ['3', '']];
    assert.deepEqual(await cellsOf(['a,b', '1,2', '3,'].join(end)), expected);
    assert.deepEqual(await cellsOf(['a,b', '1,2', '3,', ''].join(end)), expected);
  }
});

test('unquotes cells, including delimiters and line breaks in them', async () => {
  const text = 'name,text\r\n"a, b","say ""hi"""\r\n"","two\r\nlines"\r\n"""",x';
  assert.deepEqual(await cellsOf(text), [
    ['name', 'text'], ['a, b', 'say "hi"'], ['', 'two\r\nlines'], ['"', 'x'],
  ]);
});

test('keeps quotes that do not open a cell', async () => {
  assert.deepEqual(await cellsOf('name,size\nPipe,5" wide\na "b" ,x'), [
    ['name', 'size'], ['Pipe', '5" wide'], ['a "b"', 'x'],
  ]);
});

test('trims cells without quotes, and keeps those with quotes', async () => {
  const text = 'name , size\n Mug\u00a0,\t5 \n" Cup ", "two\n lines "\u00a0\n , "a ""b"" "\n';
  assert.deepEqual(await cellsOf(text), [
    ['name', 'size'], ['Mug', '5'], [' Cup ', 'two\n lines '], ['', 'a "b" '],
  ]);
});

test('counts lines as an editor does, with line breaks in quotes and blank lines', async () => {
  for (const end of ['\r\n', '\n', '\r']) {
    const text = ['', 'a,b', '1,2', '', '"x', '', 'y",2', '3,"4"', '5,6'].join(end);
    const lines = (await readRecords(text)).map(({ line }) => line);
    assert.deepEqual(lines, [2, 3, 5, 8, 9]);
  }
});

test('returns the text of a record as it was sent', async () => {
  const text = 'a;b\r\n"x ""y""\nz";2\r\n3;4\r\n';
  const records = await readRecords(text);
  assert.deepEqual(records.map((record) => record.text), ['a;b', '"x ""y""\nz";2', '3;4']);
});

test('finds the delimiter in the header, outside quotes', async () => {
  for (const [header, delimiter] of [
    ['a,b', ','], ['a;b', ';'], ['a\tb', '\t'], ['a', ','], ['a;b,c', ','], ['a;b;c,d', ';'],
    ['"a,b,c";d', ';'], ['"x ""y"",,";b', ';'], ['Width ("),b', ','], ['"a\nb,c,d";e', ';'],
  ] as const) {
    const reader = new CsvReader();
    for await (const _ of reader.read(chunksOf(`${header}\n1\n`, 1))) { /* to the end */ }
    assert.equal(reader.delimiter, delimiter, header);
  }
});

test('finds the delimiter of a header after many blank lines', async () => {
  const blank = '\n'.repeat(IMPORT_BLANK_LINES_LIMIT);
  assert.deepEqual(await cellsOf(`${blank}a;b\n1;2`), [['a', 'b'], ['1', '2']]);
});

test('drops a byte order mark', async () => {
  assert.deepEqual(await cellsOf('\uFEFFa,b\n1,2'), [['a', 'b'], ['1', '2']]);
  assert.deepEqual(await cellsOf('\uFEFF"a",b\n1,2', 1), [['a', 'b'], ['1', '2']]);
});

test('reads no records from an empty file', async () => {
  for (const text of ['', '\n', '\r\n\r\n', '\uFEFF']) assert.deepEqual(await cellsOf(text), []);
});

test('reads the same records wherever the chunks are cut', async () => {
  const text = '\uFEFFname;text\r\n"é 🥄 ""x""";"a\r\nb"\r\n\r\n漢字;\r\n"";"""\n"""\rz;5"\n';
  const whole = await readRecords(text);
  assert.equal(whole.length, 5);
  for (let size = 1; size < Buffer.byteLength(text); size += 1) {
    assert.deepEqual(await readRecords(text, size), whole, `chunks of ${size} bytes`);
  }
});

test('reads the output of a simple CSV writer', async () => {
  for (let run = 0; run < 300; run += 1) {
    const seed = Number(process.env['TEST_SEED'] ?? randomInt(2 ** 32));
    const random = makeRandom(seed);
    // Some text is long, since its length determines where the reader waits for more.
    const size = random.pick([1, 2, 7, 1_000, 40_000]);
    const { text, rows } = writeAnything(random, size < 1_000 ? 4 : 3_000);
    assert.deepEqual(await cellsOf(text, size), rows, `TEST_SEED=${seed}`);
  }
});

test('reads records that are longer than one scan', async () => {
  const long = 'x\n"'.repeat(30_000);
  const rows = [['a', 'b'], [long, '1'], ['2', long], ['3', '4']];
  const text = rows.map((row) => row.map(quote).join(',')).join('\n');
  for (const size of [1_000, 64 * 1024]) assert.deepEqual(await cellsOf(text, size), rows);
});

test('rejects a quote that is never closed, and says where it opens', async () => {
  const expected = {
    code: 'invalid_data', message: /line 4 is never closed\. Correct the file/,
  };
  await assert.rejects(readRecords('a,b\n1,2\n"x\ny","open\n3,4\n'), expected);
  const long = `a,b\n1,2\n"x\ny","open\n${'3,4\n'.repeat(1_000_000)}`;
  let readBytes = 0;
  const counted = async function* () {
    for await (const chunk of chunksOf(long)) {
      readBytes += chunk.length;
      yield chunk;
    }
  };
  await assert.rejects(async () => {
    for await (const _ of new CsvReader().read(counted())) { /* to the end */ }
  }, expected);
  assert.ok(readBytes < 2 * IMPORT_RECORD_LIMIT_BYTES, `${readBytes} bytes were read`);
});

test('rejects text after a closing quote', async () => {
  await assert.rejects(readRecords('a,b\n1,2\n"x" y,2\n'), {
    code: 'invalid_data', message: /line 3 text follows a closing quote/,
  });
  await assert.rejects(readRecords('a,b\n1,"x\n\n"y\n'), { message: /On line 4 / });
});

test('rejects a record above the size limit, and accepts one at the limit', async () => {
  const record = (bytes: number): string => `${'é'.repeat((bytes - 2) / 2)},1`;
  const most = record(IMPORT_RECORD_LIMIT_BYTES);
  assert.equal((await cellsOf(`a,b\n${most}\n1,2`)).length, 3);
  for (const text of [`a,b\n${most}é\n1,2`, `a,b\n${most}é`, `a,b\n${'x'.repeat(1e6)}`]) {
    await assert.rejects(readRecords(text), {
      code: 'invalid_data', message: /record that begins on line 2 has more than 256 KiB/,
    });
  }
});

test('rejects more columns than the limit', async () => {
  const columns = (count: number): string => `${'x,'.repeat(count - 1)}"y"\n`;
  assert.equal((await cellsOf(columns(IMPORT_COLUMNS_LIMIT)))[0]?.length, IMPORT_COLUMNS_LIMIT);
  await assert.rejects(readRecords(columns(IMPORT_COLUMNS_LIMIT + 1)), {
    code: 'invalid_data', message: /Line 1 has more than 1000 columns/,
  });
});

test('rejects a file that is not UTF-8, and says how to save it', async () => {
  const utf16 = Buffer.from('\uFEFFname,sku\r\n', 'utf16le');
  for (const [bytes, message] of [
    [utf16.subarray(0, -1), /not UTF-16LE\. Save the file as "CSV UTF-8"\.$/],
    [Buffer.from('Küche', 'latin1'), /not UTF-8\. .*"CSV UTF-8", or set encoding=/],
  ] as const) await assert.rejects(readRecords(bytes), { code: 'invalid_data', message });
  const cut = Buffer.from('a,b\n1,é').subarray(0, -1);
  await assert.rejects(readRecords(cut), { message: /not UTF-8/ });
});

test('names the line of invalid bytes that follow half of a character', async () => {
  const text = Buffer.from('a,b\n'.repeat(40), 'utf16le');
  const bytes = Buffer.concat([text, Buffer.from([0x00, 0xd8, 0x61, 0x00])]); // half of a surrogate
  const reader = new CsvReader({ encoding: 'utf-16le' });
  const cells: (readonly string[])[] = [];
  await assert.rejects(async () => {
    for await (const records of reader.read(chunksOf(bytes, text.length - 1))) {
      cells.push(...records.map((record) => record.cells));
    }
  }, { message: /^Line 41 has text that is not UTF-16LE/ });
  assert.deepEqual(cells, Array.from({ length: 40 }, () => ['a', 'b']));
});

test('names the line that is not UTF-8, and reads all records before it', async () => {
  for (const end of ['\r\n', '\n', '\r']) {
    const good = ['a,b', '"1', '2",é', '3,4', ''].join(end);
    const bytes = Buffer.concat([Buffer.from(`${good}"é`), Buffer.from([0xe9, 0x2c]),
      Buffer.from(`${end}5,6`)]);
    for (let size = 1; size <= bytes.length; size += 1) {
      const cells: (readonly string[])[] = [];
      await assert.rejects(async () => {
        for await (const records of new CsvReader().read(chunksOf(bytes, size))) {
          cells.push(...records.map((record) => record.cells));
        }
      }, { code: 'invalid_data', message: /^Line 5 has text that is not UTF-8/ });
      assert.deepEqual(cells, [['a', 'b'], [`1${end}2`, 'é'], ['3', '4']]);
    }
  }
});

test('recognises a gzip file by its first byte', async () => {
  const gzip = gzipSync('a,b\n1,2\n');
  for (const size of [1, 2, 1_000]) {
    await assert.rejects(async () => {
      for await (const _ of new CsvReader().read(chunksOf(gzip, size))) { /* to the end */ }
    }, { code: 'invalid_data', message: /is compressed with gzip.*content-encoding: gzip/ });
  }
});

test('skips a first line that names the delimiter for Excel', async () => {
  for (const [line, delimiter] of [
    ['sep=;', ';'], ['\uFEFFSEP=,', ','], ['sep=\t', '\t'],
  ] as const) {
    for (const end of ['\r\n', '\n', '\r']) {
      const text = [line, `a${delimiter}b|c`, `1${delimiter}2`].join(end);
      for (const size of [1, 100]) {
        const records = await readRecords(text, size);
        assert.deepEqual(records.map(({ line: at, cells }) => [at, ...cells]),
          [[2, 'a', 'b|c'], [3, '1', '2']]);
      }
    }
  }
  assert.deepEqual(await cellsOf('a;b\nsep=;\n'), [['a', 'b'], ['sep=', '']]);
});

function quote(cell: string): string {
  return `"${cell.replaceAll('"', '""')}"`;
}

/** A random table, and a CSV text of it. */
function writeAnything(random: Random, cellLimit: number): { text: string; rows: string[][] } {
  const delimiter = random.pick([',', ';', '\t', '|']);
  const end = random.pick(['\r\n', '\n', '\r']);
  const alphabet = [delimiter, '"', '\n', '\r', '\r\n', 'a', 'é', '🥄', ' ', "'", '='];
  const columns = 2 + random.below(5);
  const makeCell = (): string =>
    Array.from({ length: random.below(random.pick([4, 4, 4, cellLimit])) }, () =>
      random.pick(alphabet)).join('');
  const header = Array.from({ length: columns }, (_, n) => `column${n}`);
  const body = Array.from({ length: random.below(20) }, () => header.map(makeCell));
  const rows = [header, ...body];
  const needsQuotes = new RegExp(`^\\s|["${delimiter}\r\n]|\\s$`);
  const write = (cell: string): string =>
    needsQuotes.test(cell) || random.below(3) === 0 ? quote(cell) : cell;
  const lines = [header.map(quote), ...body.map((row) => row.map(write))];
  const text = lines.map((cells) => cells.join(delimiter)).join(end);
  return { text: text + (random.below(2) === 0 ? end : ''), rows };
}
