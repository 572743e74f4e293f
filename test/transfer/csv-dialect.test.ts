/** How a CSV file is written: found from its head, the same however its chunks are cut. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CsvReader, type CsvRecord } from '../../src/transfer/csv-reader.ts';
import { readTable, TableReader } from '../../src/transfer/table-reader.ts';
import { countStockMembers } from '../../src/transfer/stock-columns.ts';
import { chunksOf } from './read.ts';

const countMembers = (names: readonly string[]) => countStockMembers(names, new Map());

async function read(
  content: string | Uint8Array, { encoding, size }: { encoding?: string; size?: number } = {},
): Promise<CsvRecord[]> {
  const records: CsvRecord[] = [];
  const reader = new CsvReader({ countMembers, encoding });
  for await (const slice of reader.read(chunksOf(content, size))) records.push(...slice);
  return records;
}

const cellsOf = async (content: string | Uint8Array, encoding?: string) =>
  (await read(content, { ...(encoding !== undefined && { encoding }) })).map(({ cells }) => cells);

test('finds the column names below titles, and keeps the lines of the file', async () => {
  for (const [titles, line] of [
    ['Bestandsliste\n\nWerk;1000;Datum;01.02.2026;;;\n', 4],
    ['#INFO,Version=1.0,,Template=fx\n', 2],
    ['"Report, with\na ""quoted"" title"\n\n', 4],
    ['"Stock" of today\n', 2],
    ['\r\n\r\n', 3],
    ['x\n'.repeat(19), 20],
  ] as const) {
    const records = await read(`${titles}SKU,Quantity\nA,1\n`);
    assert.deepEqual(records.map(({ line: at, cells }) => [at, ...cells]),
      [[line, 'SKU', 'Quantity'], [line + 1, 'A', '1']], titles);
  }
});

test('ignores what ends a file of DOS', async () => {
  for (const end of ['\x1a', '\x1a\x1a', '\r\n\x1a']) {
    for (const size of [1, 10_000]) {
      const records = await read(`SKU,Quantity\nA,1${end}`, { size });
      assert.deepEqual(records.map(({ cells }) => cells), [['SKU', 'Quantity'], ['A', '1']]);
    }
  }
});

test('rejects NUL characters, as a power cut leaves, after the rows before them', async () => {
  for (const end of ['\0', '\0'.repeat(300_000), '\0,5\nC,1\n', '\x1a\0', '"\0"\n', '"x\0']) {
    for (const size of [1_000, 1_000_000]) {
      const rows: string[] = [];
      const reader = new CsvReader({ countMembers });
      const readAll = async () => {
        for await (const slice of reader.read(chunksOf(`SKU,Quantity\nA,1\n${end}`, size))) {
          rows.push(...slice.map(({ text }) => text));
        }
      };
      await assert.rejects(readAll, {
        code: 'invalid_data',
        publicDetail: 'Line 3 has a NUL character: the file is damaged, or it is not text. Write '
          + 'the file again, or remove the character if it is part of a text.',
      });
      assert.deepEqual(rows, ['SKU,Quantity', 'A,1']);
    }
  }
});

test('names a delimiter that it does not read', async () => {
  for (const name of ['^', '||', ' ']) {
    await assert.rejects(read(`sep=${name}\nSKU${name}Quantity\n`), {
      publicDetail: `The first line says that cells are separated by "${name}". Use a comma, `
        + 'semicolon, tab or |.',
    });
  }
});

test('does not look for column names below the twentieth line', async () => {
  const [first] = await cellsOf(`${'x\n'.repeat(20)}SKU,Quantity\nA,1\n`);
  assert.deepEqual(first, ['x']);
});

test('takes no row for column names because a cell of it is one', async () => {
  const files = [
    ['Artcl;Info;Qtty\nA;In Stock;5\n', 'Artcl;Info;Qtty'],
    ['Stock\nArtcl;Qtty\nA;5', 'Artcl;Qtty'],
  ] as const;
  for (const [file, header] of files) {
    assert.equal((await cellsOf(file))[0]?.join(';'), header);
  }
});

test('takes the last of several header lines, as templates have them', async () => {
  const file = 'TemplateType=x\tVersion=1\nSeller SKU\tQuantity\nsku\tquantity\nA\t1\n';
  assert.deepEqual((await cellsOf(file)).slice(0, 2), [['sku', 'quantity'], ['A', '1']]);
  // A row that repeats the column names later is a row.
  assert.deepEqual((await cellsOf('sku,qty\nA,1\nsku,qty\nB,2\n'))[0], ['sku', 'qty']);
  assert.equal((await cellsOf('sku,qty\nA,1\nsku,qty\nB,2\n')).length, 4);
});

test('never takes rows for titles above a later header line', async () => {
  const records = await read('SKU,Stock\nA,5\nB,6\nSKU,Stock,Reason\nC,7,x\n');
  assert.deepEqual(records.map(({ line, cells }) => [line, cells[0]]),
    [[1, 'SKU'], [2, 'A'], [3, 'B'], [4, 'SKU'], [5, 'C']]);
});

test('finds the delimiter whose column names are recognised', async () => {
  for (const [header, cells] of [
    ['sku|stock', ['sku', 'stock']], ['a,b,c;sku;stock', ['a,b,c', 'sku', 'stock']],
    ['"sep=|"\nsku|a,b,c,d', ['sku', 'a,b,c,d']], ['sep=;\nsku;a,b,c,d', ['sku', 'a,b,c,d']],
  ] as const) assert.deepEqual((await cellsOf(`${header}\n`))[0], cells);
});

test('takes no decimal comma for a delimiter, even if no column name is recognised', async () => {
  const rows = 'Mug, large, blue;K;1,50;1,79\n'.repeat(3);
  assert.equal((await cellsOf(`Text1;Gruppe1;Netto;Brutto\n${rows}`))[0]?.length, 4);
});

test('reads quotes as text in a tab-delimited file that does not use them to quote', async () => {
  for (const [rows, expected] of [
    ['A\t"12 Days set\t4\nB\tOrnament 3"\t70', [['A', '"12 Days set', '4'],
      ['B', 'Ornament 3"', '70']]],
    ['A\tPipe 5" wide\t4\nB\t"x" y\t2', [['A', 'Pipe 5" wide', '4'], ['B', '"x" y', '2']]],
    ['A\t"open\t4\nB\ty\t2', [['A', '"open', '4'], ['B', 'y', '2']]],
    ['A\t"in ""quotes"""\t4', [['A', 'in "quotes"', '4']]],
    ['A\t"two\nlines"\t4', [['A', 'two\nlines', '4']]],
  ] as const) {
    for (const size of [1, 10_000]) {
      const records = await read(`sku\tname\tstock\n${rows}\n`, { size });
      assert.deepEqual(records.slice(1).map(({ cells }) => cells), expected, rows);
    }
  }
});

test('rejects a quoted cell whose lines look like rows', async () => {
  for (const delimiter of [',', ';', '|', '\t']) {
    const text = 'sku,name,stock\nX,"a, b",1\nA,"12 Days set,4\nB,Ornament 3",70\nC,"a\nb",2\n';
    const records = await read(text.replaceAll(/,(?! )/g, delimiter));
    assert.deepEqual(records.map(({ line, issue }) => [line, issue?.code]), [
      [1, undefined], [2, undefined], [3, 'format'], [5, undefined],
    ], delimiter);
  }
});

test('counts the columns of a header that has its delimiter in quotes', async () => {
  const [, record] = await read('sku,stock,"a, b"\nA,1,"x\nB,2,y"\n');
  assert.equal(record?.issue?.code, 'format');
});

test('rejects swallowed rows with padded numbers and blank lines', async () => {
  for (const text of [
    'SKU;Unit;Stock\nR-1;";    5\nR-2;";    7\n', 'SKU;Name;Stock\nR-1;";6\n\nR-3;";9\n',
  ]) assert.deepEqual((await read(text)).map(({ issue }) => issue?.code), [undefined, 'format']);
});

test('accepts prose of several lines, whatever its commas', async () => {
  const [, record] = await read('sku,text\nA,"first\nsecond, and last"\n');
  assert.deepEqual([record?.cells, record?.issue], [['A', 'first\nsecond, and last'], undefined]);
});

test('decodes UTF-16 by its byte order mark, even if another encoding is named', async () => {
  const text = '\uFEFFsku;Stück\nÄ-1;5\n';
  const little = Buffer.from(text, 'utf16le');
  const expected = [['sku', 'Stück'], ['Ä-1', '5']];
  for (const bytes of [little, Buffer.from(little).swap16(), Buffer.from(text)]) {
    for (const encoding of [undefined, 'windows-1252']) {
      assert.deepEqual(await cellsOf(bytes, encoding), expected);
    }
    for (const size of [1, 2, 3]) {
      assert.deepEqual((await read(bytes, { size })).map(({ cells }) => cells), expected);
    }
  }
});

test('rejects UTF-8 under the name of an encoding in which it would be other letters', async () => {
  const bytes = Buffer.from('sku,qty\nA,1\nTÜR-1,5\nx,\n');
  for (const encoding of ['windows-1252', 'iso-8859-15', 'koi8-r']) {
    for (const size of [1, 7, 1_000]) {
      await assert.rejects(read(bytes, { encoding, size }), {
        publicDetail: `Line 3 is UTF-8, not ${encoding}: set encoding=utf-8.`,
      });
    }
  }
  const others = Buffer.from('sku,qty\nTÜR-1 Ã¼,5\n', 'latin1'); // both may occur
  assert.deepEqual((await cellsOf(others, 'windows-1252'))[1], ['TÜR-1 Ã¼', '5']);
});

test('decodes a named encoding, and names the line that is invalid in it', async () => {
  const latin = Buffer.from('sku;name\nA;K\xfcche \x80\n', 'latin1');
  assert.deepEqual((await cellsOf(latin, 'windows-1252'))[1], ['A', 'Küche €']);
  const japanese = Buffer.concat([
    Buffer.from('sku,name\n1,'), Buffer.from('8365835883674142', 'hex'), Buffer.from('\n'),
  ]);
  for (const size of [1, 100]) {
    const [, record] = await read(japanese, { encoding: 'shift_jis', size });
    assert.deepEqual(record?.cells, ['1', 'テストAB']);
    const cut = Buffer.concat([japanese, Buffer.from([0x32, 0x2c, 0x83])]);
    await assert.rejects(read(cut, { encoding: 'shift_jis', size }), {
      code: 'invalid_data',
      message: /^Line 3 has text that is not SHIFT_JIS\. Save the file as "CSV UTF-8"\.$/,
    });
  }
});

test('gives the same sample, up to 1,000 lines, however the chunks are cut', async () => {
  for (const row of ['A,1\n', 'A,"1\n"\n', `${'x'.repeat(5_000)},1\n`]) {
    const file = `\nsku,stock\n${row.repeat(2_500)}`;
    const samples = new Set<string>();
    for (const size of [1_000, 64 * 1024, 10_000_000]) {
      const rows = readTable(new TableReader(), chunksOf(file, size), (_, sample) => {
        samples.add(sample.map(({ line }) => line).join());
        return ({ line }) => line;
      });
      let count = 0;
      for await (const slice of rows) count += slice.length;
      assert.equal(count, 2_500);
    }
    assert.equal(samples.size, 1, row.slice(0, 20));
    assert.ok([...samples].join().split(',').length <= 1_000, row.slice(0, 20));
  }
});
