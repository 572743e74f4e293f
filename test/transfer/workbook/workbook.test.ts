/** What a file is, and what its sender should do. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WORKBOOK_PART_LIMIT_BYTES } from '../../../src/transfer/workbook/limits.ts';
import { openWorkbook } from '../../../src/transfer/workbook/workbook.ts';
import {
  fileOf, makeWorkbook, makeZip, relationships, sheetXml, workbookParts,
} from './make-workbook.ts';

const SHEET = sheetXml('<row><c><v>1</v></c></row>');

const SAVE = 'Save it as "Excel Workbook (.xlsx)" without a password or macros, and send that';

async function assertRejected(bytes: Buffer, type: string, remedy = SAVE): Promise<void> {
  await assert.rejects(openWorkbook(fileOf(bytes)), {
    name: 'AppError', code: 'invalid_data', message: `The file is ${type}. ${remedy}.`,
  });
}

/** A compound file (MS-CFB) with names in its directory. */
function makeCompoundFile(names: readonly string[], sectorShift = 9): Buffer {
  const bytes = Buffer.alloc(3 << sectorShift);
  bytes.write('d0cf11e0a1b11ae1', 'hex');
  bytes.writeUInt16LE(sectorShift, 30);
  bytes.writeUInt32LE(1, 48);
  names.forEach((name, index) =>
    bytes.write(`${name}\0`, (2 << sectorShift) + 128 * index, 'utf16le'));
  return bytes;
}

test('finds the sheets of a workbook', async () => {
  const { sheets } = await openWorkbook(fileOf(makeWorkbook(SHEET)));
  assert.deepEqual(sheets.map(({ part }) => part), ['xl/worksheets/sheet1.xml']);
});

test('names workbooks of other formats, with the remedy', async () => {
  const root = (target: string) => ({ '_rels/.rels': relationships(['officeDocument', target]) });
  const targets = (...types: string[]): string =>
    relationships(...types.map((type) => [type, 'x.xml'] as const));
  const macros = { 'xl/_rels/workbook.xml.rels': targets('worksheet', 'vbaProject') };
  await assertRejected(makeWorkbook(SHEET, macros), 'a workbook with macros (.xlsm)');
  await assertRejected(makeWorkbook(SHEET, root('xl/workbook.bin')), 'a binary workbook (.xlsb)');
  await assertRejected(makeCompoundFile(['Root Entry', 'Workbook']),
    'an Excel 97-2003 workbook (.xls)');
  await assertRejected(makeCompoundFile(['Root Entry', 'Book'], 12),
    'an Excel 97-2003 workbook (.xls)');
  await assertRejected(makeCompoundFile(['Root Entry', 'EncryptedPackage', 'EncryptionInfo']),
    'a workbook with a password');
  const opendocument = makeZip([
    { name: 'mimetype', content: 'application/vnd.oasis.opendocument.spreadsheet', isStored: true },
    { name: 'META-INF/manifest.xml', content: '<a/>' },
  ]);
  await assertRejected(opendocument, 'an OpenDocument file, such as .ods');
});

test('says that other files are no workbooks', async () => {
  await assertRejected(makeCompoundFile(['Root Entry', 'WordDocument']), 'no workbook');
  await assertRejected(makeCompoundFile([]).subarray(0, 8), 'no workbook');
  for (const parts of [[{ name: 'a.csv', content: 'sku\n' }], []]) {
    await assertRejected(makeZip(parts), 'a zip file', 'Send the files in it');
  }
  const document = { 'xl/_rels/workbook.xml.rels': relationships(['styles', 'styles.xml']) };
  await assertRejected(makeWorkbook(SHEET, document), 'a document without sheets of cells');
});

test('rejects a workbook whose parts are missing, invalid or too large', async () => {
  for (const [name, content, fault] of [
    ['xl/_rels/workbook.xml.rels', undefined, /rels is missing/], ['_rels/.rels', '<a', /not XML/],
    ['_rels/.rels', '<Relationships/>', /without sheets of cells/],
    ['_rels/.rels', `<a>${' '.repeat(WORKBOOK_PART_LIMIT_BYTES)}</a>`, /too large: _rels/],
  ] as const) {
    await assert.rejects(openWorkbook(fileOf(makeWorkbook(SHEET, { [name]: content }))), fault);
  }
  const cut = makeZip(workbookParts(SHEET)).subarray(0, -30);
  await assert.rejects(openWorkbook(fileOf(cut)), /damaged: it is incomplete/);
});
