/**
 * Parses forms with files (`multipart/form-data`, RFC 7578; syntax: RFC 2046 section 5.1.1) as a
 * stream of parts, without buffering their content. Rejects other types, truncated forms, parts
 * without a name, and more parts or longer part headers than any of our forms has.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { MIMEType } from 'node:util';
import { AppError } from '../../domain/error.ts';
import { collectChunks, openBody } from './body.ts';
import { FORM_PARTS_LIMIT, FORM_PART_HEAD_LIMIT_BYTES } from '../limits.ts';

const FORM_TYPE = 'multipart/form-data';

/** One field or file of a form. */
export interface FormPart {
  readonly name: string;
  /** As sent, so only for display, never for a path. Undefined for a field. */
  readonly fileName: string | undefined;
  /** Requesting the next part discards whatever is unread. */
  readonly content: AsyncIterable<Buffer>;
}

/** The limit of RFC 2046 section 5.1.1. */
const BOUNDARY_LIMIT_CHARACTERS = 70;
const LINE_BREAK = Buffer.from('\r\n');
const END = Buffer.from('--');

/**
 * The parts of a form. Read the generator to its end, or call `return`.
 * @throws AppError `unsupported_media_type`; `invalid_data` while it is read
 */
export function openForm(request: IncomingMessage): AsyncGenerator<FormPart, void, void> {
  const { chunks } = openBody(request, [FORM_TYPE]);
  return readForm(chunks, readBoundary(request.headers['content-type'] ?? ''));
}

/** @throws AppError `invalid_data` */
export async function* readForm(
  chunks: AsyncIterable<Uint8Array>, boundary: string,
): AsyncGenerator<FormPart, void, void> {
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  const body = new DelimitedReader(chunks);
  try {
    await body.take(delimiter); // the preamble has no meaning
    for (let count = 0; !await body.skip(END); count += 1) {
      if (count === FORM_PARTS_LIMIT) {
        throw invalidForm(`The form has more than ${FORM_PARTS_LIMIT} fields.`);
      }
      const head = await readHead(body);
      let isRead = false;
      async function* read(): AsyncGenerator<Buffer, void, void> {
        yield* body.readUntil(delimiter);
        isRead = true;
      }
      yield { ...head, content: read() };
      if (!isRead) for await (const _ of body.readUntil(delimiter));
    }
  } finally {
    await body.close();
  }
}

/**
 * The whole text of a part.
 * @throws AppError `body_too_large`; `invalid_data` if it is not UTF-8
 */
export async function readField({ name, content }: FormPart, limitBytes: number): Promise<string> {
  const subject = `The field ${JSON.stringify(name)} of the form`;
  const bytes = await collectChunks(content, limitBytes, () =>
    new AppError('body_too_large', `${subject} may have at most ${limitBytes} bytes.`));
  if (isUtf8(bytes)) return bytes.toString();
  throw invalidForm(`${subject} is not UTF-8.`);
}

/** `openBody` has validated the type. */
function readBoundary(contentType: string): string {
  const boundary = new MIMEType(contentType).params.get('boundary') ?? '';
  if (boundary !== '' && boundary.length <= BOUNDARY_LIMIT_CHARACTERS) return boundary;
  const request = `Send "content-type: ${FORM_TYPE}" with a boundary`;
  throw new AppError(
    'unsupported_media_type', `${request} of 1 to ${BOUNDARY_LIMIT_CHARACTERS} characters.`,
  );
}

/** Reads the header of a part, after its delimiter. */
async function readHead(body: DelimitedReader): Promise<Omit<FormPart, 'content'>> {
  let head: Omit<FormPart, 'content'> | undefined;
  const padding = await body.take(LINE_BREAK);
  if (/[^ \t]/.test(padding.toString('latin1'))) {
    throw invalidForm('A boundary of the form is followed by text on the same line.');
  }
  let sizeBytes = 0;
  for (let line = await body.take(LINE_BREAK); line.length > 0;) {
    sizeBytes += line.length;
    if (sizeBytes > FORM_PART_HEAD_LIMIT_BYTES) throw headTooLong();
    head ??= parseDisposition(line.toString());
    line = await body.take(LINE_BREAK);
  }
  if (head) return head;
  throw invalidForm('A part of the form has no field "Content-Disposition: form-data; name=...".');
}

const DISPOSITION = /^content-disposition:[ \t]*form-data[ \t]*(?=;|$)/i;
const PARAMETER = /;[ \t]*([\w!#$%&'*+.^`|~-]+)=(?:"((?:\\.|[^"\\])*)"|([^\s";]*))[ \t]*/gy;
/** How browsers escape these characters of a name (WHATWG HTML section 4.10.21.8). */
const ESCAPES: Readonly<Record<string, string>> = { '%22': '"', '%0D': '\r', '%0A': '\n' };

/** Undefined for any other header field. */
function parseDisposition(line: string): Omit<FormPart, 'content'> | undefined {
  const [start] = DISPOSITION.exec(line) ?? [];
  if (start === undefined) return undefined;
  const fields = line.slice(start.length);
  const parameters = new Map<string, string>();
  let length = 0;
  for (const [whole, name = '', quoted, token = ''] of fields.matchAll(PARAMETER)) {
    length += whole.length;
    // Other backslashes belong to paths, which some clients send.
    const text = quoted?.replace(/\\(["\\])/g, '$1')
      .replace(/%(?:22|0D|0A)/g, (escape) => ESCAPES[escape] ?? escape);
    parameters.set(name.toLowerCase(), text ?? token);
  }
  const name = parameters.get('name');
  if (name === undefined || length < fields.length) {
    throw invalidForm('The name of a form part is malformed.');
  }
  return { name, fileName: parameters.get('filename') };
}

/** Reads chunks of bytes up to delimiters, which may span chunks. */
class DelimitedReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  /** Bytes not yet read. They start with a line break, which a delimiter on line 1 needs. */
  #buffer: Buffer = LINE_BREAK;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Takes the bytes before a delimiter, up to a limit, and skips the delimiter. */
  take(delimiter: Buffer): Promise<Buffer> {
    return collectChunks(this.readUntil(delimiter), FORM_PART_HEAD_LIMIT_BYTES, headTooLong);
  }

  /** Skips the delimiter if it is next, and returns whether it was. */
  async skip(delimiter: Buffer): Promise<boolean> {
    while (this.#buffer.length < delimiter.length) await this.#add();
    if (!this.#buffer.subarray(0, delimiter.length).equals(delimiter)) return false;
    this.#shift(0, delimiter.length);
    return true;
  }

  /** Yields all bytes before the delimiter, and skips the delimiter. */
  async *readUntil(delimiter: Buffer): AsyncGenerator<Buffer, void, void> {
    for (;;) {
      const at = this.#buffer.indexOf(delimiter);
      if (at >= 0) {
        if (at > 0) yield this.#buffer.subarray(0, at);
        this.#shift(at, delimiter.length);
        return;
      }
      // The last bytes may be the beginning of the delimiter.
      const end = Math.max(0, this.#buffer.length - delimiter.length + 1);
      if (end > 0) yield this.#shift(end);
      await this.#add();
    }
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  /** Removes bytes from the buffer, and drops `skipped` more. */
  #shift(length: number, skipped = 0): Buffer {
    const bytes = this.#buffer.subarray(0, length);
    this.#buffer = this.#buffer.subarray(length + skipped);
    return bytes;
  }

  async #add(): Promise<void> {
    const { done, value } = await this.#chunks.next();
    if (done) throw invalidForm('The form was cut off: its last boundary is missing.');
    const chunk = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    this.#buffer = this.#buffer.length > 0 ? Buffer.concat([this.#buffer, chunk]) : chunk;
  }
}

function headTooLong(): AppError {
  const limit = `${FORM_PART_HEAD_LIMIT_BYTES / 1024} KiB`;
  return invalidForm(`The header of a form part, or the text before it, exceeds ${limit}.`);
}

function invalidForm(detail: string): AppError {
  return new AppError('invalid_data', detail);
}
