/**
 * Decodes the text of a file in chunks. A byte order mark of UTF-8 or UTF-16 decides the encoding,
 * even against a named one (WHATWG Encoding, section 6.1); otherwise the text has the named
 * encoding, UTF-8 by default. No encoding is guessed: a wrong guess would change names silently.
 */
import { findByteOrderMark } from '../domain/text.ts';
import { invalid, type ParseResult } from '../domain/validation.ts';

/** The canonical name of an encoding that TextDecoder knows, such as `windows-1252`. */
export type Encoding = string;

/** @param label a name of the encoding, such as `latin1`, in any case */
export function parseEncoding(label: string): ParseResult<Encoding> {
  try {
    return { value: new TextDecoder(label).encoding };
  } catch {
    const examples = 'windows-1252, iso-8859-2, shift_jis or utf-16le';
    return invalid('format', `Must be an encoding of the WHATWG list, such as ${examples}.`);
  }
}

/** Encodings of one byte a character, in which UTF-8 is valid, and has two letters for one. */
const SINGLE_BYTE = /^(?:windows-\d|iso-8859-|macintosh|x-mac-|ibm866|koi8-)/;
const NOT_ASCII = /[^\0-\x7f]/;

/** Bytes that are not valid in the encoding of the file. */
export interface InvalidBytes {
  readonly encoding: Encoding;
  /** Whether they are UTF-8, although another encoding was named. */
  readonly isUtf8?: boolean;
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
    const unmarked = isFirst ? bytes.subarray(file.markBytes) : bytes;
    const { text, isValid } = file.decode(unmarked, false);
    if (file.isUtf8(unmarked)) {
      yield text.slice(0, Math.max(0, text.search(NOT_ASCII)));
      return yield { ...file.invalid, isUtf8: true };
    }
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
  const mark = findByteOrderMark(head);
  const encoding = mark?.encoding ?? named ?? 'utf-8';
  const invalid: InvalidBytes = { encoding, isAssumed: !mark && named === undefined };
  return {
    decode: createDecoder(encoding), markBytes: mark?.sizeBytes ?? 0, invalid,
    isUtf8: SINGLE_BYTE.test(encoding) ? createUtf8Check() : () => false,
  };
}

/** Whether the first bytes that are not ASCII are UTF-8, as those of other texts never are. */
function createUtf8Check(): (bytes: Buffer) => boolean {
  let decoder: TextDecoder | undefined = new TextDecoder('utf-8', { fatal: true });
  return (bytes) => {
    try {
      return NOT_ASCII.test(decoder?.decode(bytes, { stream: true }) ?? '');
    } catch {
      decoder = undefined; // the named encoding is right
      return false;
    }
  };
}

/**
 * A decoder that throws does not say where. Another one, which has read the same bytes, has the
 * text before invalid ones: up to what it puts in their place.
 */
function createDecoder(encoding: Encoding) {
  const strict = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  const lenient = new TextDecoder(encoding, { ignoreBOM: true });
  return (bytes: Buffer, isLast: boolean) => {
    const options = { stream: !isLast };
    const replaced = lenient.decode(bytes, options);
    try {
      return { text: strict.decode(bytes, options), isValid: true };
    } catch {
      const [text = ''] = replaced.split('\uFFFD', 1);
      return { text, isValid: false };
    }
  };
}
