/**
 * Says what a file is by its first bytes and its directory, not by its name: a workbook that this
 * room reads (.xlsx), or a relative, which is rejected with what to do. Compound files are those of
 * MS-CFB, packages those of ECMA-376 part 2.
 */
import { posix } from 'node:path';
import { AppError } from '../../domain/error.ts';
import type { SeekableFile } from '../file-options.ts';
import { WORKBOOK_PART_LIMIT_BYTES } from './limits.ts';
import { parseXml, readAttribute, type XmlHandler } from './xml.ts';
import { ZipFile } from './zip.ts';

/**
 * What a part refers to; `type` is the last segment of a URI, which strict and transitional
 * workbooks have in common.
 */
type Relationship = Readonly<Record<'id' | 'type' | 'part', string>>;

const SAVE = 'Save it as "Excel Workbook (.xlsx)" without a password or macros, and send that';
const [COMPOUND_HEADER_BYTES, DIRECTORY_SECTORS] = [512, 8];

/**
 * Opens the zip file of a workbook, and finds its main part.
 * @throws AppError `invalid_data`, with what the file is instead
 */
export async function openPackage(file: SeekableFile) {
  const isZip = (await file.readAt(0, 2)).toString() === 'PK';
  if (!isZip) throw unsupported(await describeCompoundFile(file));
  const zip = await ZipFile.open(file);
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

/** Parses a part of moderate size. */
export async function readPart(
  zip: ZipFile, part: string, open: XmlHandler['open'],
): Promise<void> {
  for await (const _ of parseXml(zip.read(part, WORKBOOK_PART_LIMIT_BYTES), { open })) { /* all */ }
}

/** None of them is outside the file. */
async function readRelationships(zip: ZipFile, part: string): Promise<Relationship[]> {
  const { dir, base } = posix.parse(part);
  const relationships: Relationship[] = [];
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
  const header = Buffer.concat(
    [await file.readAt(0, COMPOUND_HEADER_BYTES)], COMPOUND_HEADER_BYTES,
  );
  const sectorBytes = 1 << (header.readUInt16LE(30) & 0xf);
  const offset = (header.readUInt32LE(48) + 1) * sectorBytes;
  const names = (await file.readAt(offset, DIRECTORY_SECTORS * sectorBytes)).toString('utf16le');
  if (names.includes('EncryptedPackage')) return 'a workbook with a password';
  return /(?:Workbook|Book)\0/.test(names) ? 'an Excel 97-2003 workbook (.xls)' : 'no workbook';
}

function unsupported(type: string, remedy = SAVE): AppError {
  return new AppError('invalid_data', `The file is ${type}. ${remedy}.`);
}
