/**
 * Reads a zip file (PKWARE APPNOTE 6.3) by its directory. Entries are stored or deflated, and may
 * have ZIP64 fields; a file that is so large that its directory needs them is over a limit. Sizes
 * and checksums are verified, and what could be read in two ways is rejected: repeated entries, and
 * names that differ between entry and directory.
 */
import { crc32, createInflateRaw } from 'node:zlib';
import { AppError } from '../../domain/error.ts';
import { pipeThroughZlib } from '../../http/response/compression.ts';
import type { SeekableFile } from '../file-options.ts';
import { shortenName } from '../header.ts';
import { WORKBOOK_DIRECTORY_LIMIT_BYTES, WORKBOOK_INFLATED_LIMIT_BYTES } from './limits.ts';

type Entry = ReturnType<typeof parseEntry>;
type Chunks = AsyncGenerator<Uint8Array, void, void>;

const [DIRECTORY_END, DIRECTORY_END_BYTES, COMMENT_LIMIT_BYTES] = [0x06054b50, 22, 0xffff];
const [HEADER, HEADER_BYTES, LOCAL_HEADER, LOCAL_HEADER_BYTES] = [0x02014b50, 46, 0x04034b50, 30];
const [STORED, DEFLATED, ZIP64_FIELD, ZIP64_SIZE] = [0, 8, 1, 0xffffffff];
/** Bits 0 and 6: encryption; 13: a masked directory. */
const ENCRYPTED_FLAGS = 0x2041;
/** Many cells of a chunk may refer to a long shared text, so it is short. */
const CHUNK_BYTES = 16 * 1024;

export type ZipFile = Awaited<ReturnType<typeof openZip>>;

/**
 * Reads the directory. Names are compared without regard to case (ECMA-376).
 * @throws AppError `invalid_data`
 */
export async function openZip(file: SeekableFile) {
  const [count, sizeBytes, offset] = await findDirectory(file);
  if (sizeBytes > WORKBOOK_DIRECTORY_LIMIT_BYTES) throw tooLarge(`it has ${count} parts`);
  const entries = parseDirectory(await readExactly(file, offset, sizeBytes), count);
  return {
    has: (name: string): boolean => entries.has(normalizeName(name)),
    /**
     * Decompresses an entry.
     * @throws AppError `invalid_data`, of which some is known only after the last chunk
     */
    async* read(name: string, limitBytes = WORKBOOK_INFLATED_LIMIT_BYTES): Chunks {
      const entry = entries.get(normalizeName(name));
      if (!entry) throw damaged(`${name} is missing`);
      // By the stated size, so that a file is rejected before it expands.
      if (entry.sizeBytes > limitBytes) throw tooLarge(`${name} has ${entry.sizeBytes} bytes`);
      let [sizeBytes, checksum] = [0, 0];
      for await (const chunk of inflate(file, name, entry)) {
        sizeBytes += chunk.length;
        if (sizeBytes > entry.sizeBytes) break;
        checksum = crc32(chunk, checksum);
        yield chunk;
      }
      const isWhole = sizeBytes === entry.sizeBytes && checksum === entry.checksum;
      if (!isWhole) throw damaged(`${name} has a wrong size or checksum`);
    },
  };
}

/** The error of a workbook that no spreadsheet program writes. */
export function damaged(reason: string): AppError {
  const fault = `The workbook is damaged: ${shortenName(reason)}`;
  const remedy = 'Open it in a spreadsheet program, save it as .xlsx and send that';
  return new AppError('invalid_data', `${fault}. ${remedy}.`);
}

export function tooLarge(reason: string): AppError {
  const remedy = 'Copy the rows to a new workbook, or save the sheet as "CSV UTF-8"';
  return new AppError('invalid_data', `The workbook is too large: ${reason}. ${remedy}.`);
}

async function* inflate(file: SeekableFile, name: string, entry: Entry): Chunks {
  const isPlain = (entry.flags & ENCRYPTED_FLAGS) === 0;
  const isReadable = isPlain && (entry.method === STORED || entry.method === DEFLATED);
  if (!isReadable) throw damaged(`${name} is encrypted, or not compressed by deflate`);
  const start = await findData(file, entry);
  const chunks = readChunks(file, start, start + entry.compressedBytes);
  if (entry.method === STORED) return yield* chunks;
  const inflater = createInflateRaw({ chunkSize: CHUNK_BYTES });
  try {
    yield* pipeThroughZlib(chunks, inflater);
  } catch (error) {
    const isZlib = error instanceof Error && 'code' in error && /^Z_/.test(String(error.code));
    throw isZlib ? damaged('its compressed data is invalid') : error;
  }
  if (inflater.bytesWritten !== entry.compressedBytes) throw damaged('data follows a part');
}

/** The offset of the compressed bytes. */
async function findData(file: SeekableFile, { name, offset }: Entry): Promise<number> {
  const header = await readExactly(file, offset, LOCAL_HEADER_BYTES + name.length);
  const isSame = header.readUInt32LE(0) === LOCAL_HEADER
    && header.readUInt16LE(26) === name.length && header.subarray(-name.length).equals(name);
  if (!isSame) throw damaged('a part differs from the directory');
  return offset + header.length + header.readUInt16LE(28);
}

async function* readChunks(file: SeekableFile, start: number, end: number): Chunks {
  for (let at = start; at < end; at += CHUNK_BYTES) {
    yield readExactly(file, at, Math.min(CHUNK_BYTES, end - at));
  }
}

function normalizeName(name: string): string {
  return name.replaceAll('\\', '/').replace(/^\//, '').toLowerCase();
}

async function readExactly(file: SeekableFile, offset: number, length: number): Promise<Buffer> {
  const isInside = offset >= 0 && offset + length <= file.sizeBytes;
  const bytes = isInside ? await file.readAt(offset, length) : undefined;
  if (bytes?.length === length) return bytes;
  throw damaged('it is incomplete');
}

/** The last record of the file, which ends in a comment, has the place of the directory. */
async function findDirectory(file: SeekableFile): Promise<readonly [number, number, number]> {
  const length = Math.min(file.sizeBytes, DIRECTORY_END_BYTES + COMMENT_LIMIT_BYTES);
  const tail = await readExactly(file, file.sizeBytes - length, length);
  let at = length - DIRECTORY_END_BYTES;
  const isEnd = () => tail.readUInt32LE(at) === DIRECTORY_END
    && tail.readUInt16LE(at + 20) === length - at - DIRECTORY_END_BYTES;
  while (at >= 0 && !isEnd()) at -= 1;
  if (at < 0) throw damaged('it is incomplete');
  return [tail.readUInt16LE(at + 10), tail.readUInt32LE(at + 12), tail.readUInt32LE(at + 16)];
}

function parseDirectory(bytes: Buffer, count: number): ReadonlyMap<string, Entry> {
  const entries = new Map<string, Entry>();
  let at = 0;
  while (at < bytes.length) {
    const entry = parseEntry(bytes, at);
    entries.set(normalizeName(entry.name.toString()), entry);
    at = entry.end;
  }
  if (at === bytes.length && entries.size === count) return entries;
  throw damaged('its directory is incomplete, or has a part twice');
}

/** Sizes and offsets that do not fit into 32 bits are in an extra field, in this order. */
function parseEntry(bytes: Buffer, at: number) {
  const isHeader = at + HEADER_BYTES <= bytes.length && bytes.readUInt32LE(at) === HEADER;
  if (!isHeader) throw damaged('its directory is invalid');
  const nameEnd = at + HEADER_BYTES + bytes.readUInt16LE(at + 28);
  const extraEnd = nameEnd + bytes.readUInt16LE(at + 30);
  let zip64 = findZip64Field(bytes.subarray(nameEnd, extraEnd));
  const readSize = (place: number): number => {
    const size = bytes.readUInt32LE(at + place);
    if (size !== ZIP64_SIZE || zip64.length < 8) return size;
    const value = Number(zip64.readBigUInt64LE());
    zip64 = zip64.subarray(8);
    return value;
  };
  return {
    name: bytes.subarray(at + HEADER_BYTES, nameEnd), flags: bytes.readUInt16LE(at + 8),
    method: bytes.readUInt16LE(at + 10), checksum: bytes.readUInt32LE(at + 16),
    sizeBytes: readSize(24), compressedBytes: readSize(20), offset: readSize(42),
    end: extraEnd + bytes.readUInt16LE(at + 32),
  };
}

function findZip64Field(extra: Buffer): Buffer {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) === ZIP64_FIELD) return extra.subarray(at + 4);
  }
  return extra.subarray(extra.length);
}
