/**
 * Says what a file is by its first bytes and its directory, not by its name: a workbook (.xlsx), or
 * a relative, which is rejected with what to do. Reads what the sheets of a workbook share: their
 * list, cell formats and texts. Compound files are those of MS-CFB, packages those of ECMA-376
 * part 2.
 */
import { posix } from 'node:path';
import { AppError } from '../../domain/error.ts';
import type { SeekableFile } from '../file-options.ts';
import { classifyFormat, type NumberFormat } from './cells.ts';
import {
  SHARED_STRING_LIMIT_CHARACTERS, WORKBOOK_PART_LIMIT_BYTES, WORKBOOK_STRINGS_LIMIT_BYTES,
} from './limits.ts';
import { parseXml, readAttribute, type XmlHandler } from './xml.ts';
import { damaged, openZip, tooLarge, type ZipFile } from './zip.ts';

export type Sheet = Readonly<{ name: string; isHidden: boolean; part: string }>;

export type Workbook = Awaited<ReturnType<typeof openWorkbook>>;

const SAVE = 'Save it as "Excel Workbook (.xlsx)" without a password or macros, and send that';
const [COMPOUND_HEADER_BYTES, DIRECTORY_SECTORS, OFFSET_BYTES] = [512, 8, 8];

/** @throws AppError `invalid_data` if it cannot be read, with what it is instead */
export async function openWorkbook(file: SeekableFile) {
  const { zip, part, relationships } = await openPackage(file);
  const partOf = (type: string, id?: string): string | undefined => relationships.find((other) =>
    other.type === type && (id === undefined || other.id === id))?.part;
  /** Without charts, in the order of their tabs. */
  const sheets: Sheet[] = [];
  // Formulas that are left to be calculated by a spreadsheet program may have any value.
  let [is1904, isUncalculated] = [false, false];
  await readPart(zip, part, (name, parent, text) => {
    if (name === 'workbookPr') is1904 = isTrue(readAttribute(text, 'date1904'));
    if (name === 'calcPr') isUncalculated = isTrue(readAttribute(text, 'fullCalcOnLoad'));
    if (name !== 'sheet' || parent !== 'sheets') return;
    const [, id = ''] = /:id="([^"]*)"/.exec(text) ?? [];
    const sheetPart = partOf('worksheet', id);
    const isHidden = (readAttribute(text, 'state') ?? 'visible') !== 'visible';
    const title = decodeEscapes(readAttribute(text, 'name') ?? '');
    if (sheetPart !== undefined) sheets.push({ name: title, isHidden, part: sheetPart });
  });
  const [stringsPart, stylesPart] = [partOf('sharedStrings'), partOf('styles')];
  const formats = stylesPart === undefined ? undefined : await readFormats(zip, stylesPart);
  return { zip, sheets, formats, stringsPart, is1904, isUncalculated };
}

/**
 * Reads the texts that cells refer to by index, and keeps them outside of the JavaScript heap.
 * @throws AppError `invalid_data`
 */
export async function readSharedStrings({ zip, stringsPart }: Workbook) {
  let bytes = Buffer.alloc(64 * 1024);
  /** Where each begins, and where the last ends. */
  const offsets = [0];
  let string = '';
  const handler: XmlHandler = {
    open: () => {},
    close(name, parent, text) {
      if (isTextRun(name, parent)) string += decodeEscapes(text);
      if (name !== 'si' || parent !== 'sst') return;
      const start = offsets.at(-1) ?? 0;
      const end = start + Buffer.byteLength(string);
      const isTooMuch = string.length > SHARED_STRING_LIMIT_CHARACTERS
        || end + OFFSET_BYTES * offsets.length > WORKBOOK_STRINGS_LIMIT_BYTES;
      if (isTooMuch) throw tooLarge('it has too much text, or a cell with too much');
      if (!string.isWellFormed()) throw damaged('it has half of a surrogate pair');
      if (end > bytes.length) bytes = Buffer.concat([bytes], Math.ceil(end * 1.25));
      bytes.write(string, start);
      offsets.push(end);
      string = '';
    },
  };
  if (stringsPart !== undefined) {
    for await (const _ of parseXml(zip.read(stringsPart), handler)) { /* all */ }
  }
  return (index: number): string => {
    const end = offsets[index + 1];
    if (end === undefined) throw damaged(`it has no shared text ${index}`);
    return bytes.toString('utf8', offsets[index], end);
  };
}

/** Whether this is text that is shown; `rPh` has how it sounds. */
export function isTextRun(name: string, parent: string): boolean {
  return name === 't' && (parent === 'si' || parent === 'is' || parent === 'r');
}

/** `_x000D_` is a carriage return (ECMA-376 part 1, 22.9.2.19). */
export function decodeEscapes(text: string): string {
  return !text.includes('_x') ? text : text.replace(/_x([\da-fA-F]{4})_/g, (_, hex: string) =>
    String.fromCharCode(parseInt(hex, 16)));
}

export function isTrue(value: string | undefined): boolean {
  return value === '1' || value === 'true';
}

/** Opens the zip file of a workbook, and finds its main part. */
async function openPackage(file: SeekableFile) {
  const isZip = (await file.readAt(0, 2)).toString() === 'PK';
  if (!isZip) throw unsupported(await describeCompoundFile(file));
  const zip = await openZip(file);
  if (zip.has('META-INF/manifest.xml')) throw unsupported('an OpenDocument file, such as .ods');
  if (!zip.has('_rels/.rels')) throw unsupported('a zip file', 'Send the files in it');
  const document = (await readRelationships(zip, '')).find(({ type }) => type === 'officeDocument');
  const part = document?.part ?? '';
  if (part.endsWith('.bin')) throw unsupported('a binary workbook (.xlsb)');
  const relationships = await readRelationships(zip, part);
  const types = new Set(relationships.map(({ type }) => type));
  if (types.has('vbaProject')) throw unsupported('a workbook with macros (.xlsm)');
  if (!types.has('worksheet')) throw unsupported('a document without sheets of cells');
  return { zip, part, relationships };
}

async function readFormats(zip: ZipFile, part: string): Promise<readonly NumberFormat[]> {
  const codes = new Map<string, string>();
  const ids: string[] = [];
  await readPart(zip, part, (name, parent, text) => {
    const id = readAttribute(text, 'numFmtId') ?? '0';
    if (name === 'xf' && parent === 'cellXfs') ids.push(id);
    if (name !== 'numFmt' || parent !== 'numFmts') return;
    codes.set(id, decodeEscapes(readAttribute(text, 'formatCode') ?? ''));
  });
  return ids.map((id) => classifyFormat(Number(id), codes.get(id)));
}

/** Parses a part of moderate size. */
async function readPart(zip: ZipFile, part: string, open: XmlHandler['open']): Promise<void> {
  for await (const _ of parseXml(zip.read(part, WORKBOOK_PART_LIMIT_BYTES), { open })) { /* all */ }
}

/**
 * What a part refers to inside of the file. `type` is the last segment of a URI, which strict and
 * transitional workbooks have in common.
 */
async function readRelationships(zip: ZipFile, part: string) {
  const { dir, base } = posix.parse(part);
  const relationships: Readonly<Record<'id' | 'type' | 'part', string>>[] = [];
  await readPart(zip, posix.join(dir, '_rels', `${base}.rels`), (name, _, text) => {
    if (name !== 'Relationship' || readAttribute(text, 'TargetMode') === 'External') return;
    const [id = '', type = '', target = ''] = ['Id', 'Type', 'Target']
      .map((key) => readAttribute(text, key));
    const path = posix.resolve('/', dir, target.replaceAll('\\', '/')); // `/` is the package
    relationships.push({ id, type: posix.basename(type), part: path.slice(1) });
  });
  return relationships;
}

/** By the names in the first sectors of its directory. */
async function describeCompoundFile(file: SeekableFile): Promise<string> {
  const header = await file.readAt(0, COMPOUND_HEADER_BYTES);
  if (header.length < COMPOUND_HEADER_BYTES) return 'no workbook';
  const sectorBytes = 1 << (header.readUInt16LE(30) & 0xf);
  const offset = (header.readUInt32LE(48) + 1) * sectorBytes;
  const names = (await file.readAt(offset, DIRECTORY_SECTORS * sectorBytes)).toString('utf16le');
  if (names.includes('EncryptedPackage')) return 'a workbook with a password';
  return /(?:Workbook|Book)\0/.test(names) ? 'an Excel 97-2003 workbook (.xls)' : 'no workbook';
}

function unsupported(type: string, remedy = SAVE): AppError {
  return new AppError('invalid_data', `The file is ${type}. ${remedy}.`);
}
