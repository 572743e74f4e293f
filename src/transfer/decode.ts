/**
 * Decodes the text of a file in chunks. A byte order mark of UTF-8 or UTF-16 decides the encoding,
 * even against a named one (WHATWG Encoding, section 6.1); otherwise the text has the named
 * encoding, UTF-8 by default. No encoding is guessed: a wrong guess would change names silently.
 */
import { isUtf8 } from 'node:buffer';
import { invalid, type ParseResult } from '../domain/validation.ts';

/** The canonical name of an encoding that TextDecoder knows, such as `windows-1252`. */
export type Encoding = string;

const MARKS: readonly (readonly [mark: Buffer, encoding: Encoding])[] = [
  [Buffer.from([0xef, 0xbb, 0xbf]), 'utf-8'],
  [Buffer.from([0xff, 0xfe]), 'utf-16le'],
  [Buffer.from([0xfe, 0xff]), 'utf-16be'],
];

/** @param label a name of the encoding, such as `latin1`, in any case */
export function parseEncoding(label: string): ParseResult<Encoding> {
  try {
    return { value: new TextDecoder(label).encoding };
  } catch {
    const examples = 'windows-1252, iso-8859-2, shift_jis or utf-16le';
    return invalid('format', `Must be an encoding of the WHATWG list, such as ${examples}.`);
  }
}

/** Bytes that are not valid in the encoding of the file. */
export interface InvalidBytes {
  readonly encoding: Encoding;
  /** Whether nothing says that the file has this encoding. */
  readonly isAssumed: boolean;
}

/**
 * Yields the text without its byte order mark, which the first chunk has. At invalid bytes it
 * yields the text before them, then what they are, and ends, so that an error can name their line.
 */
export async function* decodeText(
  chunks: AsyncIterable<Uint8Array>, named?: Encoding,
): AsyncGenerator<string | InvalidBytes, void, void> {
  let file: ReturnType<typeof open> | undefined;
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const isFirst = file === undefined;
    file ??= open(bytes, named);
    const { text, isValid } = file.decode(isFirst ? bytes.subarray(file.markBytes) : bytes, false);
    yield text;
    if (!isValid) return yield file.invalid;
  }
  if (!file) return;
  const { text, isValid } = file.decode(Buffer.alloc(0), true);
  yield text;
  if (!isValid) yield file.invalid;
}

/** A decoder, and the length of the mark at the start of the file. */
function open(head: Buffer, named: Encoding | undefined) {
  const marked = MARKS.find(([mark]) => head.subarray(0, mark.length).equals(mark));
  const [mark, encoding] = marked ?? [Buffer.alloc(0), named ?? 'utf-8'];
  const invalid: InvalidBytes = { encoding, isAssumed: !marked && named === undefined };
  return { decode: createDecoder(encoding), markBytes: mark.length, invalid };
}

function createDecoder(encoding: Encoding) {
  return encoding === 'utf-8' ? createUtf8Decoder() : createNamedDecoder(encoding);
}

function createNamedDecoder(encoding: Encoding) {
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  return (bytes: Buffer, isLast: boolean) => {
    try {
      return { text: decoder.decode(bytes, { stream: !isLast }), isValid: true };
    } catch {
      const lenient = new TextDecoder(encoding, { ignoreBOM: true });
      const [text = ''] = lenient.decode(bytes).split('\uFFFD', 1);
      return { text, isValid: false };
    }
  };
}

/** Several times as fast as a TextDecoder that throws, and yields all text before the error. */
function createUtf8Decoder() {
  let incomplete = Buffer.alloc(0);
  return (chunk: Buffer, isLast: boolean) => {
    const bytes = incomplete.length > 0 ? Buffer.concat([incomplete, chunk]) : chunk;
    const complete = completePart(bytes);
    const isComplete = isUtf8(complete);
    const valid = isComplete ? complete : validPart(bytes);
    incomplete = Buffer.from(bytes.subarray(valid.length));
    const isValid = isComplete && !(isLast && incomplete.length > 0);
    return { text: valid.toString('utf8'), isValid };
  };
}

/** The longest prefix that is UTF-8, by binary search. */
function validPart(bytes: Buffer): Buffer {
  let valid = 0;
  let invalid = bytes.length;
  while (invalid - valid > 1) {
    const middle = Math.floor((valid + invalid) / 2);
    if (isUtf8(completePart(bytes.subarray(0, middle)))) valid = middle;
    else invalid = middle;
  }
  return completePart(bytes.subarray(0, valid));
}

/** All bytes except an incomplete last character. */
function completePart(bytes: Buffer): Buffer {
  const start = bytes.findLastIndex((byte) => byte < 0x80 || byte >= 0xc0); // no continuation byte
  const first = bytes[start] ?? 0;
  const length = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  return start + length > bytes.length ? bytes.subarray(0, start) : bytes;
}
