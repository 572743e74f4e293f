/** Sheets: their rows and cells as records, and what is rejected. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AppError } from '../../../src/domain/error.ts';
import { HEADER_LINES } from '../../../src/transfer/csv-dialect.ts';
import {
  IMPORT_BATCH_ROWS, IMPORT_COLUMNS_LIMIT, IMPORT_RECORD_LIMIT_BYTES,
} from '../../../src/transfer/limits.ts';
import {
  SHARED_STRING_LIMIT_CHARACTERS, SHEET_ROWS_LIMIT, WORKBOOK_MERGED_ROWS_LIMIT,
  WORKBOOK_SHEETS_LISTED_LIMIT,
} from '../../../src/transfer/workbook/limits.ts';
import { openSheet } from '../../../src/transfer/workbook/workbook-reader.ts';
import {
  fileOf, kindsOf, MAIN, makeWorkbook, readAll, readCells, readRecords, relationships,
  sheetXml, stringsXml, stylesXml, workbookXml,
} from './make-workbook.ts';

const text = (value: string, reference = ''): string =>
  `<c${reference && ` r="${reference}"`} t="inlineStr"><is><t>${value}</t></is></c>`;
const row = (...cells: string[]): string => `<row>${cells.join('')}</row>`;
const merges = (...ranges: string[]): string =>
  `<mergeCells>${ranges.map((range) => `<mergeCell ref="${range}"/>`).join('')}</mergeCells>`;

async function assertRejected(bytes: Buffer, fault: RegExp, sheet?: string): Promise<void> {
  await assert.rejects(readRecords(bytes, sheet), { name: 'AppError', message: fault });
}

test('reads shared, inline and calculated texts, without outer spaces', async () => {
  const strings = stringsXml(['<t>00123</t>', '<t xml:space="preserve"> a  b </t>', '<t/>',
    '<r><rPr><b/><t>no</t></rPr><t>rich </t></r><r><t>text</t></r><rPh sb="0"><t>no</t></rPh>'
      + '<phoneticPr fontId="1"/>', '', '<t>a_x000D_\nb_x005F_x0041_</t>', '<t>é🥄 &amp; 漢字</t>']);
  const shared = [0, 1, 2, 3, 4, 5, 6].map((index) => `<c t="s"><v>${index}</v></c>`);
  assert.deepEqual(await readCells(sheetXml(row(...shared)), { 'xl/sharedStrings.xml': strings }), [
    ['text:00123', 'text:a  b', 'blank:', 'text:rich text', 'blank:', 'text:a\r\nb_x0041_',
      'text:é🥄 & 漢字'],
  ]);
  const inline = row(text('=1+1'), '<c t="inlineStr"><is><r><t>x</t></r><r><t>_x0041_</t></r><rPh>'
    + '<t>no</t></rPh></is></c>', '<c t="str"><f>A1&amp;"b"</f><v> 12_x0041_ </v></c>');
  assert.deepEqual(await readCells(sheetXml(inline)),
    [['text:=1+1', 'text:xA', 'text:12A']]);
});

test('reads numbers by their formats, dates, booleans and errors', async () => {
  const styles = stylesXml(['General', '00000', 'yyyy-mm-dd', '0%', '#,##0.00']);
  const cells = ['<c><v>12.300000000000001</v></c>', '<c s="0"><v> 7 </v></c>',
    '<c s="1"><v>7</v></c>', '<c s="2"><v>46082</v></c>', '<c s="3" t="n"><v>0.5</v></c>',
    '<c s="4"><v>1234.5</v></c>', '<c t="b"><v>1</v></c>', '<c t="b" s="2"><v>0</v></c>',
    '<c t="e"><v>#N/A</v></c>', '<c t="d"><v>2026-03-01</v></c>', '<c><v>1,5</v></c>',
    '<c s="1"/>', '<c><v/></c>', '<c t="s"/>', '<c><v>0</v></c>'];
  const expected = ['number:12.3', 'number:7', 'formatted:7', 'date:2026-03-01', 'scaled:0.5',
    'formatted:1234.5', 'boolean:TRUE', 'boolean:FALSE', 'error:#N/A', 'date:2026-03-01',
    'error:1,5', 'blank:', 'blank:', 'blank:', 'number:0'];
  const parts = { 'xl/styles.xml': styles };
  assert.deepEqual(await readCells(sheetXml(row(...cells)), parts), [expected]);
  const is1904 = workbookXml('<sheet name="A" r:id="rId1"/>', '<workbookPr date1904="1"/>');
  assert.deepEqual(await readCells(sheetXml(row('<c s="2"><v>44620</v></c>')), {
    ...parts, 'xl/workbook.xml': is1904,
  }), [['date:2026-03-01']]);
});

test('reads formulas by their value, unless there is none or it may be outdated', async () => {
  const cells = ['<c><f>1+1</f><v>2</v></c>', '<c><f>1+1</f></c>', '<c><f>1+1</f><v></v></c>',
    '<c t="str"><f>""</f><v></v></c>', '<c t="str"><f>"a"</f></c>',
    '<c><f t="shared" si="0"/><v>3</v></c>', '<c t="e"><f>1/0</f><v>#DIV/0!</v></c>',
    '<c><v>4</v></c>'];
  const expected = ['number:2', 'uncalculated:', 'uncalculated:', 'blank:', 'uncalculated:',
    'number:3', 'error:#DIV/0!', 'number:4'];
  assert.deepEqual(await readCells(sheetXml(row(...cells))), [expected]);
  const sheet = '<sheet name="A" r:id="rId1"/>';
  const uncalculated = workbookXml(sheet, '<calcPr calcId="1" fullCalcOnLoad="1"/>');
  const [kinds] = await readCells(sheetXml(row(...cells)), { 'xl/workbook.xml': uncalculated });
  assert.deepEqual(kinds, [...Array(7).fill('uncalculated:'), 'number:4']);
});

test('puts rows and cells where their references say, or after the previous ones', async () => {
  const records = await readRecords(makeWorkbook(sheetXml(
    `<row r="3">${text('a', 'B3')}${text('b')}${text('c', 'AA3')}</row><row/>${row(text('d'))}`
      + `<row r="10" spans="1:2">${text('', 'A10')}</row><row r="12">${text('e', 'AA12')}</row>`)));
  const blanks = (count: number): string => ','.repeat(count);
  assert.deepEqual(records.map(({ line, cells }) => [line, cells.join()]),
    [[3, `,a,b${blanks(24)}c`], [5, `d${blanks(26)}`], [12, `${blanks(26)}e`]]);
  assert.deepEqual(records[1] && kindsOf(records[1]), ['text', ...Array(26).fill('blank')]);
  assert.equal(records[0]?.text, `,a,b${blanks(24)}c`);
});

test('leaves out cells to the right of the last column name', async () => {
  const wide = sheetXml(row(text('a'), text(''), text('b'), text(' ')) + row(text('c'))
    + row('<c><v>1</v></c>', '<c><v>2</v></c>', '<c/>', text('note')));
  assert.deepEqual(await readCells(wide), [
    ['text:a', 'blank:', 'text:b'], ['text:c', 'blank:', 'blank:'],
    ['number:1', 'number:2', 'blank:'],
  ]);
});

test('finds the column names below titles, also if cells of titles are merged', async () => {
  const titles = row(text('Stock of all warehouses')) + row(text('Berlin'), text('March'));
  const names = row(text('SKU'), text('Stock')) + row(text('SKU'), text('Stock'), text('Note'));
  const countMembers = (cells: readonly string[]): number =>
    cells.filter((cell) => cell === 'SKU' || cell === 'Stock').length;
  const read = async (rows: string, after = '') => {
    const bytes = makeWorkbook(sheetXml(rows, after));
    const reader = await openSheet(fileOf(bytes), { countMembers });
    return (await readAll(reader)).map(({ line, text: cells }) => `${line} ${cells}`);
  };
  const data = row(text('A'), text('5'));
  assert.deepEqual(await read(titles + names + data, merges('A1:Z1')),
    ['4 SKU,Stock,Note', '5 A,5,']);
  assert.deepEqual(await read(names.slice(0, row(text('SKU'), text('Stock')).length) + data),
    ['1 SKU,Stock', '2 A,5']);
  assert.deepEqual(await read(titles + data), ['2 Berlin,March', '3 A,5']);
  const many = row(text('x')).repeat(HEADER_LINES);
  assert.equal((await read(many + names + data))[0], '1 x');
  assert.deepEqual(await read(many.slice(row(text('x')).length) + names + data),
    ['20 SKU,Stock', '21 SKU,Stock', '22 A,5']);
});

test('yields the column names with one batch of rows, or less if they have much text', async () => {
  const read = async (rows: string): Promise<number[]> => {
    const sizes: number[] = [];
    const reader = await openSheet(fileOf(makeWorkbook(sheetXml(rows))), {});
    for await (const records of reader.read()) sizes.push(records.length);
    return sizes;
  };
  const sizes = await read(row(text('a')).repeat(5_000));
  assert.equal(sizes[0], IMPORT_BATCH_ROWS + 1);
  assert.equal(sizes.reduce((sum, size) => sum + size), 5_000);
  assert.deepEqual(await read(row(text('a')).repeat(3)), [3]);
  assert.deepEqual(await read(''), [0]);
  const [long = 0] = await read(row(text('x'.repeat(100_000))).repeat(50));
  assert.ok(long >= 10 && long < 20, String(long));
});

test('has the cells of a row as a line of CSV', async () => {
  const [record] = await readRecords(makeWorkbook(sheetXml(row(
    text('a,b'), text('say "x"'), text('=1+1'), '<c><v>-5</v></c>', text('')))));
  assert.equal(record?.text, '"a,b","say ""x""",\'=1+1,\'-5');
});

test('leaves out foreign elements, and reads prefixes and strict workbooks', async () => {
  const sheet = `<x:worksheet xmlns:x="http://purl.oclc.org/ooxml/spreadsheetml/main">
    <x:sheetData><x:row r="1"><x:c r="A1" t="s"><x:v>0</x:v></x:c><c><v>5</v></c>
    <y:c r="B1"><y:v>6</y:v></y:c><x:c r="C1"><x:v>1</x:v><x:extLst><x:ext><x:v>2</x:v></x:ext>
    </x:extLst></x:c></x:row></x:sheetData><x:row r="2"><x:c><x:v>9</x:v></x:c></x:row>
    </x:worksheet>`;
  const strict = (name: string): string => `http://purl.oclc.org/ooxml/officeDocument/${name}`;
  const parts = {
    '_rels/.rels': `<Relationships><Relationship Id="a" Type="${
      strict('relationships/officeDocument')}" Target="/XL/Workbook.xml"/></Relationships>`,
    'xl/_rels/workbook.xml.rels': `<Relationships><Relationship Id="b" Type="${
      strict('relationships/worksheet')}" Target="../xl\\worksheets/sheet1.xml"/><Relationship
      Id="c" Type="${strict('relationships/sharedStrings')}" Target="strings.xml"/><Relationship
      Id="d" Type="x/link" Target="file:///etc/passwd" TargetMode="External"/></Relationships>`,
    'xl/workbook.xml': `<x:workbook xmlns:x="m" xmlns:d="r"><x:sheets>
      <x:sheet name="A" d:id="b"/></x:sheets><x:extLst><x:sheet name="B" d:id="b"/></x:extLst>
      </x:workbook>`,
    'xl/strings.xml': '<x:sst xmlns:x="m"><x:si><x:t>one</x:t></x:si></x:sst>',
  };
  assert.deepEqual(await readCells(sheet, parts), [['text:one', 'blank:', 'number:1']]);
});

test('fills merged cells, and marks all but the first', async () => {
  const sheet = sheetXml(
    row(text('SKU'), text('Price'), '<c/>', text('Note')) + row('<c/>', text('EUR'), text('USD'))
      + row(text('a'), '<c><v>1</v></c>', '<c><v>2</v></c>', '<c><v>3</v></c>')
      + row('<c/>', '<c><v>4</v></c>') + '<row r="6"/>' + row(text('b'), text('c')),
    merges('A1:A2', 'B1:C1', 'C3:C4', 'D1:D2', 'A6:A7', 'A9', 'B900:ZZ999'),
  );
  assert.deepEqual(await readCells(sheet), [
    ['text:SKU', 'text:Price', 'merged:Price', 'text:Note'],
    ['merged:SKU', 'text:EUR', 'text:USD', 'merged:Note'],
    ['text:a', 'number:1', 'number:2', 'number:3'],
    ['blank:', 'number:4', 'merged:2', 'blank:'],
    ['merged:', 'text:c', 'blank:', 'blank:'],
  ]);
});

test('rejects merged cells that are invalid or too many', async () => {
  const merged = (...ranges: string[]): Buffer =>
    makeWorkbook(sheetXml(row(text('a')), merges(...ranges)));
  for (const range of ['', 'A', 'A2:A1', 'B1:A1', 'A1:B1:C1', 'a1:b2', 'AAAA1:B2']) {
    await assertRejected(merged(range), /damaged: it has the merged cells/);
  }
  await assertRejected(merged(`A1:A${WORKBOOK_MERGED_ROWS_LIMIT}`, 'B1:B2'), /too many merged/);
  const wide = await readRecords(merged('A1:XFD1'));
  assert.equal(wide[0]?.cells.length, IMPORT_COLUMNS_LIMIT);
});

test('counts hidden rows that have text', async () => {
  const reader = await openSheet(fileOf(makeWorkbook(sheetXml(
    `<row>${text('a')}</row><row hidden="1">${text('b')}</row><row hidden="true"><c/></row>`
      + `<row hidden="0">${text('c')}</row><row hidden="true">${text('d')}</row>`))), {});
  assert.equal((await readAll(reader)).length, 4);
  assert.deepEqual(reader.notes, ['Rows that are hidden in the workbook were read, too: 2.']);
});

test('reads the first visible sheet, or the one that is named', async () => {
  const sheets = ['Charts', 'Secret', 'Deep', 'Prices', 'Notes'];
  const bytes = makeWorkbook(sheetXml(row(text('prices'))), {
    'xl/workbook.xml': workbookXml(sheets.map((name, index) => `<sheet name="${name}" r:id="rId${
      index + 1}"${['', ' state="hidden"', ' state="veryHidden"'][index] ?? ''}/>`).join('')),
    'xl/_rels/workbook.xml.rels': relationships(['chartsheet', 'chart.xml'],
      ['worksheet', 'worksheets/secret.xml'], ['worksheet', 'worksheets/deep.xml'],
      ['worksheet', 'worksheets/sheet1.xml'], ['worksheet', 'worksheets/notes.xml']),
    'xl/worksheets/secret.xml': sheetXml(row(text('secret'))),
    'xl/worksheets/notes.xml': sheetXml(row(text('notes'))),
  });
  const read = async (sheet?: string) => (await readRecords(bytes, sheet))[0]?.text;
  assert.equal(await read(), 'prices');
  assert.equal(await read('NOTES'), 'notes');
  assert.equal(await read('Secret'), 'secret');
  const reader = await openSheet(fileOf(bytes), {});
  assert.deepEqual(reader.notes, [
    'The sheet "Prices" was read. To read another one, set sheet=NAME: "Notes".',
  ]);
  const chosen = await openSheet(fileOf(bytes), { sheet: 'notes' });
  assert.deepEqual(chosen.notes, []);
  for (const sheet of ['Charts', '', 'constructor']) {
    await assert.rejects(readRecords(bytes, sheet), { code: 'invalid_query', issues: [{
      parameter: 'sheet', code: 'unknown', detail: `The workbook has no sheet "${sheet}". Its `
        + 'sheets: "Secret" (hidden), "Deep" (hidden), "Prices", "Notes".',
    }] });
  }
});

test('lists some of many sheets', async () => {
  const names = Array.from({ length: WORKBOOK_SHEETS_LISTED_LIMIT + 1 }, (_, index) =>
    `<sheet name="S${index}" r:id="rId1" state="hidden"/>`).join('');
  const bytes = makeWorkbook(sheetXml(''), { 'xl/workbook.xml': workbookXml(names) });
  await assert.rejects(readRecords(bytes), (error: AppError) => {
    assert.match(error.issues[0]?.detail ?? '',
      /no visible sheet\. Its sheets: "S0" .*, "S19" \(hidden\), \.\.\.\.$/);
    return true;
  });
});

test('rejects rows and cells that are out of order, and what does not exist', async () => {
  for (const [rows, fault] of [
    ['<row r="2"/><row r="2"/>', /row 2 follows row 2/],
    ['<row r="2"/><row r="1"/>', /row 1 follows row 2/],
    [`<row r="${SHEET_ROWS_LIMIT + 1}"/>`, /row 1048577 follows row 0/],
    ['<row r="0"/>', /follows/], ['<row r="x"/>', /follows/], ['<row r="1e3"/>', /follows/],
    ['<row><c r="B1"/><c r="A1"/></row>', /cell A1 is not in its place on row 1/],
    ['<row><c r="A1"/><c r="A1"/></row>', /cell A1/], ['<row><c r="A2"/></row>', /cell A2/],
    ['<row><c r="1A"/></row>', /cell 1A/], ['<row><c r=""/></row>', /not in its place/],
    ['<row><c t="x"><v>1</v></c></row>', /row 1 has a cell of the type "x"/],
    ['<row><c t="s"><v>2</v></c></row>', /no shared text 2/],
    ['<row><c t="s"><v>-1</v></c></row>', /no shared text/],
    ['<row><c s="1"><v>1</v></c></row>', /row 1 has a format/],
    ['<row><c s="x"><v>1</v></c></row>', /row 1 has a format/],
  ] as const) {
    await assertRejected(makeWorkbook(sheetXml(rows), {
      'xl/sharedStrings.xml': stringsXml(['<t>a</t>', '<t>b</t>']),
      'xl/styles.xml': stylesXml(['0']),
    }), fault);
  }
  await assertRejected(makeWorkbook(sheetXml('<row><c t="s"><v>0</v></c></row>')), /shared text/);
  const long = `<row><c t="${'x'.repeat(100_000)}"><v>1</v></c></row>`;
  await assertRejected(makeWorkbook(sheetXml(long)), /^The workbook is damaged: .{100}\. Open it/);
  await assertRejected(makeWorkbook('<worksheet>'), /not XML/);
  await assertRejected(makeWorkbook('a', { 'xl/worksheets/sheet1.xml': undefined }), /is missing/);
});

test('rejects a row with too many columns or too much text', async () => {
  const wide = (count: number): Buffer =>
    makeWorkbook(sheetXml(row(...Array(count).fill('<c><v>1</v></c>'), '<c/>')));
  assert.equal((await readRecords(wide(IMPORT_COLUMNS_LIMIT)))[0]?.cells.length,
    IMPORT_COLUMNS_LIMIT);
  await assertRejected(wide(IMPORT_COLUMNS_LIMIT + 1), /row 1 has more than 1000 columns/);
  const long = (length: number): Buffer => makeWorkbook(sheetXml(row(text('x'.repeat(length)))));
  assert.equal((await readRecords(long(IMPORT_RECORD_LIMIT_BYTES))).length, 1);
  await assertRejected(long(IMPORT_RECORD_LIMIT_BYTES + 1), /row 1 has more than 256 KiB/);
});

test('verifies a sheet before its first row', async () => {
  const rows = Array.from({ length: 20_000 }, (_, index) => row(text(`row ${index}`))).join('');
  const { length } = sheetXml(rows);
  const reader = await openSheet(fileOf(makeWorkbook(`${sheetXml(rows)}<`)), {});
  assert.ok(length > 1024 * 1024);
  await assert.rejects(reader.read().next(), { message: /not XML/ });
});

test('reads many shared texts', async () => {
  const strings = Array.from({ length: 30_000 }, (_, index) => `<t>Text ${index} é</t>`);
  const cells = [0, 1, 29_999].map((index) => `<c t="s"><v>${index}</v></c>`);
  const parts = { 'xl/sharedStrings.xml': stringsXml(strings) };
  assert.deepEqual(await readCells(sheetXml(row(...cells)), parts),
    [['text:Text 0 é', 'text:Text 1 é', 'text:Text 29999 é']]);
  const long = (length: number) => ({ 'xl/sharedStrings.xml': stringsXml([
    `<t>${'x'.repeat(length)}</t>`]) });
  assert.deepEqual(await readCells(sheetXml(''), long(SHARED_STRING_LIMIT_CHARACTERS)), []);
  await assertRejected(
    makeWorkbook(sheetXml(''), long(SHARED_STRING_LIMIT_CHARACTERS + 1)), /too much text/);
  const half = { 'xl/sharedStrings.xml': stringsXml(['<t>_xD83E_</t>']) };
  await assertRejected(makeWorkbook(sheetXml(''), half), /surrogate/);
  const whole = { 'xl/sharedStrings.xml': `<sst ${MAIN}><si><t>_xD83E__xDD44_</t></si></sst>` };
  assert.deepEqual(await readCells(sheetXml(row('<c t="s"><v>0</v></c>')), whole), [['text:🥄']]);
});
