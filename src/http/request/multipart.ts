/**
 * Reads forms with files (`multipart/form-data`, RFC 7578; its syntax is that of RFC 2046 section
 * 5.1.1): the parts one after the other, none of them whole in memory unless it is asked for.
 * Refused are other types, forms that break off, parts without a name, and more parts or longer
 * heads of parts than any form of ours has.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { MIMEType } from 'node:util';
import { AppError } from '../../domain/error.ts';
import { openBody } from './body.ts';
import { FORM_PARTS_LIMIT, FORM_PART_HEAD_LIMIT_BYTES } from '../limits.ts';

const FORM_TYPE = 'multipart/form-data';

/** One field or file of a form. */
export interface FormPart {
  readonly name: string;
  /** As the client gave it, for people to read and never for a path. Undefined for a field. */
  readonly fileName: string | undefined;
  /** Is read before the next part is asked for: what is left of it then is passed over. */
  readonly content: AsyncIterable<Buffer>;
}

/** Says so of the delimiter, which has more: RFC 2046 section 5.1.1. */
const BOUNDARY_LIMIT_CHARACTERS = 70;
const LINE_BREAK = Buffer.from('\r\n');
const END = Buffer.from('--');

/**
 * The parts of a request that sends a form. Read it to its end or return it.
 * @throws AppError `unsupported_media_type` at once; `invalid_data` while it is read
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
  const body = new MarkedBytes(chunks);
  try {
    await body.take(delimiter); // what stands before the first part means nothing
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
 * @throws AppError `body_too_large`; `invalid_data` where it is not UTF-8
 */
export async function readField(
  { name, content }: FormPart, limitBytes: number,
): Promise<string> {
  const pieces: Buffer[] = [];
  let sizeBytes = 0;
  for await (const piece of content) {
    sizeBytes += piece.length;
    if (sizeBytes > limitBytes) {
      const what = `The field ${JSON.stringify(name)} of the form`;
      throw new AppError('body_too_large', `${what} may have at most ${limitBytes} bytes.`);
    }
    pieces.push(piece);
  }
  const bytes = Buffer.concat(pieces);
  if (isUtf8(bytes)) return bytes.toString();
  throw invalidForm(`The field ${JSON.stringify(name)} of the form is not UTF-8.`);
}

/** The field was parsed before: its type is that of a form. */
function readBoundary(contentType: string): string {
  const boundary = new MIMEType(contentType).params.get('boundary') ?? '';
  if (boundary !== '' && boundary.length <= BOUNDARY_LIMIT_CHARACTERS) return boundary;
  const what = `Send "content-type: ${FORM_TYPE}" with a boundary`;
  throw new AppError(
    'unsupported_media_type', `${what} of 1 to ${BOUNDARY_LIMIT_CHARACTERS} characters.`,
  );
}

/** Reads what follows a delimiter, up to the content of the part. */
async function readHead(body: MarkedBytes): Promise<Omit<FormPart, 'content'>> {
  let head: Omit<FormPart, 'content'> | undefined;
  const padding = await body.take(LINE_BREAK);
  if (/[^ \t]/.test(padding.toString('latin1'))) {
    throw invalidForm('Something follows a boundary of the form on its line.');
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
/** What browsers write of a name that has these characters (WHATWG HTML, section 4.10.21.8). */
const ESCAPES: Readonly<Record<string, string>> = { '%22': '"', '%0D': '\r', '%0A': '\n' };

/** Undefined for another field. */
function parseDisposition(line: string): Omit<FormPart, 'content'> | undefined {
  const [start] = DISPOSITION.exec(line) ?? [];
  if (start === undefined) return undefined;
  const rest = line.slice(start.length);
  const parameters = new Map<string, string>();
  let length = 0;
  for (const [whole, name = '', quoted, token = ''] of rest.matchAll(PARAMETER)) {
    length += whole.length;
    // Other backslashes are those of paths, which some clients send.
    const text = quoted?.replace(/\\(["\\])/g, '$1')
      .replace(/%(?:22|0D|0A)/g, (escape) => ESCAPES[escape] ?? escape);
    parameters.set(name.toLowerCase(), text ?? token);
  }
  const name = parameters.get('name');
  if (name === undefined || length < rest.length) {
    throw invalidForm('The name of a part of the form cannot be read.');
  }
  return { name, fileName: parameters.get('filename') };
}

/** Bytes that come in chunks, read up to marks that may stand across any of them. */
class MarkedBytes {
  readonly #chunks: AsyncIterator<Uint8Array>;
  /** What has come and was not read. It begins with a line break, as a mark on line 1 needs it. */
  #held: Buffer = LINE_BREAK;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** The few bytes before the mark, and passes it. */
  async take(mark: Buffer): Promise<Buffer> {
    for (let from = 0; ;) {
      const at = this.#held.indexOf(mark, from);
      if (at > FORM_PART_HEAD_LIMIT_BYTES) throw headTooLong();
      if (at >= 0) {
        const bytes = this.#held.subarray(0, at);
        this.#held = this.#held.subarray(at + mark.length);
        return bytes;
      }
      if (this.#held.length > FORM_PART_HEAD_LIMIT_BYTES + mark.length) throw headTooLong();
      from = Math.max(0, this.#held.length - mark.length + 1);
      await this.#add();
    }
  }

  /** Passes the mark if it comes next, and says whether it did. */
  async skip(mark: Buffer): Promise<boolean> {
    while (this.#held.length < mark.length) await this.#add();
    if (!this.#held.subarray(0, mark.length).equals(mark)) return false;
    this.#held = this.#held.subarray(mark.length);
    return true;
  }

  /** The bytes before the mark, however many, and passes it. */
  async *readUntil(mark: Buffer): AsyncGenerator<Buffer, void, void> {
    for (;;) {
      const at = this.#held.indexOf(mark);
      // What comes last may be the beginning of the mark.
      const end = at >= 0 ? at : Math.max(0, this.#held.length - mark.length + 1);
      const bytes = this.#held.subarray(0, end);
      this.#held = this.#held.subarray(at >= 0 ? at + mark.length : end);
      if (bytes.length > 0) yield bytes;
      if (at >= 0) return;
      await this.#add();
    }
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  async #add(): Promise<void> {
    const { done, value } = await this.#chunks.next();
    if (done) throw invalidForm('The form was cut off: its last boundary is missing.');
    const chunk = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    this.#held = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk;
  }
}

function headTooLong(): AppError {
  const most = `${FORM_PART_HEAD_LIMIT_BYTES / 1024} KiB`;
  return invalidForm(`The header of a form part, or what precedes it, has more than ${most}.`);
}

function invalidForm(detail: string): AppError {
  return new AppError('invalid_data', detail);
}
