/**
 * Writes the workbooks of tests, part by part, so that each can have what a test needs, and reads
 * them.
 */
import { crc32, deflateRawSync } from 'node:zlib';
import type { CsvRecord } from '../../../src/transfer/csv-reader.ts';
import type { OpenedSheet, SeekableFile } from '../../../src/transfer/file-options.ts';
import { SheetRow } from '../../../src/transfer/workbook/cells.ts';
import { openSheet } from '../../../src/transfer/workbook/workbook-reader.ts';

export interface ZipPart {
  readonly name: string;
  readonly content: string | Uint8Array;
  readonly isStored?: boolean;
  /** Whether its sizes and its offset are in a ZIP64 field. */
  readonly isZip64?: boolean;
  /** Fields of both headers that differ from the content. */
  readonly flags?: number;
  readonly method?: number;
  readonly checksum?: number;
  readonly sizeBytes?: number;
  /** The name in its own header. */
  readonly localName?: string;
  /** Bytes after the compressed ones, which count as compressed. */
  readonly suffix?: Uint8Array;
}

interface ZipOptions {
  readonly comment?: string;
  /** Whether it says that a ZIP64 record has its count, size and offset. */
  readonly isZip64?: boolean;
  /** How many entries the directory is said to have. */
  readonly count?: number;
}

export const MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006/relationships';

export function makeZip(parts: readonly ZipPart[], options: ZipOptions = {}): Buffer {
  const chunks: Buffer[] = [];
  const headers: Buffer[] = [];
  let offset = 0;
  for (const part of parts) {
    const { local, header } = makeEntry(part, offset);
    chunks.push(local);
    headers.push(header);
    offset += local.length;
  }
  const directory = Buffer.concat(headers);
  const { comment = '', count = parts.length, isZip64 = false } = options;
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(isZip64 ? 0xffff : count, 10);
  end.writeUInt32LE(isZip64 ? 0xffffffff : directory.length, 12);
  end.writeUInt32LE(isZip64 ? 0xffffffff : offset, 16);
  end.writeUInt16LE(Buffer.byteLength(comment), 20);
  return Buffer.concat([...chunks, directory, end, Buffer.from(comment)]);
}

function makeEntry(part: ZipPart, offset: number) {
  const content = Buffer.from(part.content as string); // a copy, of bytes or of text
  const bytes = Buffer.concat([
    part.isStored ? content : deflateRawSync(content), part.suffix ?? Buffer.alloc(0),
  ]);
  const name = Buffer.from(part.name);
  const localName = Buffer.from(part.localName ?? part.name);
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(20, 0);
  fields.writeUInt16LE(part.flags ?? 0, 2);
  fields.writeUInt16LE(part.method ?? (part.isStored ? 0 : 8), 4);
  fields.writeUInt32LE(part.checksum ?? crc32(content), 10);
  const sizeBytes = part.sizeBytes ?? content.length;
  fields.writeUInt32LE(part.isZip64 ? 0xffffffff : bytes.length, 14);
  fields.writeUInt32LE(part.isZip64 ? 0xffffffff : sizeBytes, 18);
  const extra = Buffer.alloc(part.isZip64 ? 34 : 0);
  if (part.isZip64) {
    extra.writeUInt16LE(0x5455, 0); // a field that is no ZIP64 field goes before it
    extra.writeUInt16LE(2, 2);
    extra.writeUInt16LE(1, 6);
    extra.writeUInt16LE(24, 8);
    [sizeBytes, bytes.length, offset].forEach((value, index) =>
      extra.writeBigUInt64LE(BigInt(value), 10 + 8 * index));
  }
  fields.writeUInt16LE(localName.length, 22);
  const local = Buffer.concat([Buffer.from('PK\x03\x04'), fields, localName, bytes]);
  fields.writeUInt16LE(name.length, 22);
  fields.writeUInt16LE(extra.length, 24);
  const tail = Buffer.alloc(14);
  tail.writeUInt32LE(part.isZip64 ? 0xffffffff : offset, 10);
  const header = Buffer.concat([
    Buffer.from('PK\x01\x02'), Buffer.from([20, 0]), fields, tail, name, extra,
  ]);
  return { local, header };
}

export function relationships(...items: readonly (readonly [type: string, target: string])[]) {
  return `<Relationships xmlns="${PACKAGE}">${items.map(([type, target], index) =>
    `<Relationship Id="rId${index + 1}" Type="${OFFICE}/${type}" Target="${target}"/>`).join('')
  }</Relationships>`;
}

export function workbookXml(sheets: string, other = ''): string {
  return `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<workbook ${MAIN} xmlns:r="${
    OFFICE}">${other}<sheets>${sheets}</sheets></workbook>`;
}

export function sheetXml(rows: string, after = ''): string {
  return `<worksheet ${MAIN}><sheetData>${rows}</sheetData>${after}</worksheet>`;
}

export function stringsXml(items: readonly string[]): string {
  return `<sst ${MAIN}>${items.map((item) => `<si>${item}</si>`).join('')}</sst>`;
}

/** Formats by their codes, which cells refer to by index. */
export function stylesXml(codes: readonly string[]): string {
  const formats = codes.map((code, index) =>
    `<numFmt numFmtId="${164 + index}" formatCode="${code}"/>`).join('');
  const uses = codes.map((_, index) => `<xf numFmtId="${164 + index}"/>`).join('');
  return `<styleSheet ${MAIN}><numFmts>${formats}</numFmts><cellStyleXfs><xf numFmtId="14"/>`
    + `</cellStyleXfs><cellXfs>${uses}</cellXfs></styleSheet>`;
}

type Contents = Readonly<Record<string, ZipPart['content'] | undefined>>;

/** The parts of a workbook with one sheet; `undefined` leaves one out. */
export function workbookParts(sheet: ZipPart['content'], others: Contents = {}): ZipPart[] {
  const parts: Contents = {
    '[Content_Types].xml': '<Types/>',
    '_rels/.rels': relationships(['officeDocument', 'xl/workbook.xml']),
    'xl/workbook.xml': workbookXml('<sheet name="Stock" sheetId="1" r:id="rId1"/>'),
    'xl/_rels/workbook.xml.rels': relationships(
      ['worksheet', 'worksheets/sheet1.xml'],
      ...'xl/sharedStrings.xml' in others ? [['sharedStrings', '/xl/sharedStrings.xml']] as const
        : [],
      ...'xl/styles.xml' in others ? [['styles', 'styles.xml']] as const : [],
    ),
    'xl/worksheets/sheet1.xml': sheet,
    ...others,
  };
  return Object.entries(parts).flatMap(([name, content]) =>
    (content === undefined ? [] : [{ name, content }]));
}

export function makeWorkbook(...parts: Parameters<typeof workbookParts>): Buffer {
  return makeZip(workbookParts(...parts));
}

/** A cell: a number may have a format. */
type Value = string | number | boolean | readonly [number: number, format: string];

/** A workbook with these sheets, by name, and these rows of cells. */
export function makeTables(
  tables: Readonly<Record<string, readonly (readonly Value[])[]>>,
): Buffer {
  const codes = ['General'];
  const write = (value: Value): string => {
    if (typeof value === 'number') return `<c><v>${value}</v></c>`;
    if (typeof value === 'boolean') return `<c t="b"><v>${Number(value)}</v></c>`;
    if (typeof value === 'string') return `<c t="inlineStr"><is><t>${value}</t></is></c>`;
    codes.push(value[1]);
    return `<c s="${codes.length - 1}"><v>${value[0]}</v></c>`;
  };
  const sheets = Object.values(tables).map((rows) => sheetXml(rows.map((cells) =>
    `<row>${cells.map(write).join('')}</row>`).join('')));
  const names = Object.keys(tables).map((name, index) =>
    `<sheet name="${name}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`).join('');
  return makeWorkbook(sheets[0] ?? '', {
    'xl/workbook.xml': workbookXml(names), 'xl/styles.xml': stylesXml(codes),
    'xl/_rels/workbook.xml.rels': relationships(
      ...sheets.map((_, index) => ['worksheet', `worksheets/sheet${index + 1}.xml`] as const),
      ['styles', 'styles.xml']),
    ...Object.fromEntries(sheets.map((sheet, index) =>
      [`xl/worksheets/sheet${index + 1}.xml`, sheet])),
  });
}

export function fileOf(bytes: Buffer): SeekableFile {
  return {
    sizeBytes: bytes.length,
    readAt: async (offset, lengthBytes) => bytes.subarray(offset, offset + lengthBytes),
  };
}

export async function readAll(reader: OpenedSheet): Promise<CsvRecord[]> {
  const all: CsvRecord[] = [];
  for await (const records of reader.read()) all.push(...records);
  return all;
}

export async function readRecords(bytes: Buffer, sheet?: string): Promise<CsvRecord[]> {
  return readAll(await openSheet(fileOf(bytes), { sheet }));
}

export function kindsOf({ types }: CsvRecord): SheetRow['kinds'] {
  return types instanceof SheetRow ? types.kinds : [];
}

/** Each cell as `kind:text`, for the rows of one sheet. */
export async function readCells(
  ...parts: Parameters<typeof workbookParts>
): Promise<(readonly string[])[]> {
  const records = await readRecords(makeWorkbook(...parts));
  return records.map((record) =>
    record.cells.map((cell, index) => `${kindsOf(record)[index]}:${cell}`));
}
