/** What the sheets of a workbook share: their list, cell formats and texts. */
import type { SeekableFile } from '../file-options.ts';
import { classifyFormat, type NumberFormat } from './cells.ts';
import { openPackage, readPart } from './file-type.ts';
import {
  SHARED_STRING_LIMIT_CHARACTERS, WORKBOOK_STRINGS_LIMIT, WORKBOOK_STRINGS_LIMIT_BYTES,
} from './limits.ts';
import { parseXml, readAttribute, type XmlHandler } from './xml.ts';
import { damaged, tooLarge, type ZipFile } from './zip.ts';

export type Sheet = Readonly<{ name: string; isHidden: boolean; part: string }>;

export type Workbook = Awaited<ReturnType<typeof openWorkbook>>;

/** @throws AppError `invalid_data` if the file is no workbook that can be read */
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

/** Texts that cells refer to by index, outside of the JavaScript heap. */
export class SharedStrings {
  #bytes = Buffer.alloc(64 * 1024);
  /** Where each begins, and where the last ends. */
  readonly #offsets = [0];

  /** @throws AppError `invalid_data` */
  static async read({ zip, stringsPart }: Workbook): Promise<SharedStrings> {
    const strings = new SharedStrings();
    if (stringsPart === undefined) return strings;
    let string = '';
    const handler: XmlHandler = {
      open: (name, parent) => (isTextRun(name, parent) ? 'text' : undefined),
      close(name, parent, text) {
        string += decodeEscapes(text);
        if (name !== 'si' || parent !== 'sst') return;
        strings.#add(string);
        string = '';
      },
    };
    for await (const _ of parseXml(zip.read(stringsPart), handler)) { /* all */ }
    return strings;
  }

  get(index: number): string {
    const end = this.#offsets[index + 1];
    if (end === undefined) throw damaged(`it has no shared text ${index}`);
    return this.#bytes.toString('utf8', this.#offsets[index], end);
  }

  #add(text: string): void {
    const start = this.#offsets.at(-1) ?? 0;
    const end = start + Buffer.byteLength(text);
    const isTooLong = text.length > SHARED_STRING_LIMIT_CHARACTERS;
    const isTooMuch = end > WORKBOOK_STRINGS_LIMIT_BYTES
      || this.#offsets.length > WORKBOOK_STRINGS_LIMIT;
    if (isTooLong || isTooMuch) throw tooLarge('it has too much text, or a cell with too much');
    if (!text.isWellFormed()) throw damaged('it has half of a surrogate pair');
    if (end > this.#bytes.length) {
      const sizeBytes = Math.min(Math.ceil(end * 1.25), WORKBOOK_STRINGS_LIMIT_BYTES);
      this.#bytes = Buffer.concat([this.#bytes], sizeBytes);
    }
    this.#bytes.write(text, start);
    this.#offsets.push(end);
  }
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
