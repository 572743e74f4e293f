/**
 * Parses I-JSON (RFC 7493): well-formed UTF-8, no duplicate member, no number that a double cannot
 * hold exactly, and at most 8 levels and 64,000 values. JSON.parse does the parsing; one scan of
 * the text finds what it would accept. The scan counts members, because JSON.parse keeps only one
 * of several with the same name.
 */
import { isUtf8 } from 'node:buffer';
import { AppError } from '../../domain/error.ts';
import { validateNumberText, skipShortNumber } from '../../domain/number-text.ts';
import { escapePointer } from '../../domain/validation.ts';
import type { ValidationError } from '../../domain/text.ts';
import { yieldToEventLoop } from '../../runtime/event-loop.ts';
import { JSON_DEPTH_LIMIT, JSON_VALUES_LIMIT } from '../limits.ts';

/** Strings, with the colon that makes one a name, and the punctuation of their context. */
const TOKENS = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\],]/gs;
/** What may be between a name and its colon. */
const SPACE = /\s*/y;
/** A number, or the beginning of something that JSON.parse rejects. */
const NUMBER = /[-+.\deE]+/y;
/** Strings, names and numbers that one time slice scans. */
const SLICE_TOKENS = 4_000;

/** @throws AppError `invalid_json` */
export function parseJson(bytes: Buffer): unknown {
  const slices = parseInSlices(bytes);
  for (;;) {
    const { done, value } = slices.next();
    if (done) return value;
  }
}

/** The same in time slices, for large bodies. */
export async function parseLargeJson(bytes: Buffer): Promise<unknown> {
  const slices = parseInSlices(bytes);
  for (;;) {
    const { done, value } = slices.next();
    if (done) return value;
    await yieldToEventLoop();
  }
}

function* parseInSlices(bytes: Buffer): Generator<undefined, unknown, void> {
  if (bytes.length === 0) throw new AppError('invalid_json', 'The body is empty. Send JSON.');
  if (!isUtf8(bytes)) throw new AppError('invalid_json', 'The body is not UTF-8.');
  const sent = bytes.toString('utf8');
  const { text, memberCount, inexactNumber } = yield* scan(sent);
  yield;
  const value = parse(text);
  yield;
  if (countMembers(value) !== memberCount) {
    yield;
    const pointer = yield* findPointer(sent);
    throw new AppError('invalid_json', 'A member is repeated in the same object.', {
      issues: [{ pointer, code: 'duplicate', detail: 'Is repeated. Send it once.' }],
    });
  }
  if (inexactNumber) {
    yield;
    const pointer = yield* findPointer(sent, inexactNumber.at);
    throw new AppError('invalid_json', 'A number cannot be represented exactly.', {
      issues: [{ pointer, ...inexactNumber.error }],
    });
  }
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The engine's message may quote the text: only its sender gets it.
    if (error instanceof SyntaxError) throw new AppError('invalid_json', `${error.message}.`);
    throw error;
  }
}

interface Scanned {
  /** The text that was sent, with names without escapes. */
  readonly text: string;
  readonly memberCount: number;
  readonly inexactNumber: Numbers['inexact'];
}

/**
 * Counts the members of a text (its colons outside strings), checks its depth, numbers and number
 * of values, and removes escapes from names.
 */
function* scan(sent: string): Generator<undefined, Scanned, void> {
  let memberCount = 0;
  let depth = 0;
  let values = 0;
  let tokens = 0;
  const escapes = new Escapes(sent);
  const numbers = new Numbers(sent);
  for (let at = 0; at < sent.length; at += 1) {
    switch (sent.charCodeAt(at)) {
      case 0x22: { // a quote: on to the end of the string
        const end = findStringEnd(sent, at);
        escapes.pass(at, end);
        at = end;
        tokens += 1;
        if (tokens % SLICE_TOKENS === 0) yield;
        break;
      }
      case 0x3a: // a colon
        memberCount += 1;
        break;
      case 0x2c: // a comma: another value follows
        values += 1;
        break;
      case 0x5b: case 0x7b: // an opening bracket or brace
        depth += 1;
        values += 1;
        if (depth > JSON_DEPTH_LIMIT) {
          const detail = `The body is nested deeper than ${JSON_DEPTH_LIMIT} levels.`;
          throw new AppError('invalid_json', detail);
        }
        break;
      case 0x5d: case 0x7d: // a closing one
        depth -= 1;
        break;
      case 0x2d: case 0x30: case 0x31: case 0x32: case 0x33: case 0x34:
      case 0x35: case 0x36: case 0x37: case 0x38: case 0x39: // a minus or a digit
        at = numbers.pass(at);
        tokens += 1;
        if (tokens % SLICE_TOKENS === 0) yield;
        break;
      default:
    }
  }
  if (values > JSON_VALUES_LIMIT) {
    const most = JSON_VALUES_LIMIT.toLocaleString('en');
    throw new AppError('invalid_json', `The body has more than ${most} members and items.`);
  }
  return { text: escapes.unescape(), memberCount, inexactNumber: numbers.inexact };
}

/**
 * Removes escapes from member names: V8 may confuse an escaped name with another one that it has
 * seen before (https://github.com/nodejs/node/issues/63785). A name that needs escapes has quotes,
 * backslashes or control characters in it, and is rejected.
 */
class Escapes {
  readonly #sent: string;
  readonly #parts: string[] = [];
  /** End of the text that is in the parts. */
  #done = 0;
  /** The next backslash. */
  #next: number;

  constructor(sent: string) {
    this.#sent = sent;
    this.#next = sent.indexOf('\\');
  }

  /** Processes the string between two quotes; call it for each string in order. */
  pass(start: number, end: number): void {
    if (this.#next < 0 || this.#next > end) return;
    this.#next = this.#sent.indexOf('\\', end);
    SPACE.lastIndex = end + 1;
    SPACE.test(this.#sent);
    if (this.#sent[SPACE.lastIndex] !== ':') return;
    const name = JSON.stringify(parse(this.#sent.slice(start, end + 1)));
    if (name.includes('\\')) {
      const hint = 'Use names without quotes, backslashes and control characters.';
      throw new AppError('invalid_json', `The member name ${name} is not accepted. ${hint}`);
    }
    this.#parts.push(this.#sent.slice(this.#done, start), name);
    this.#done = end + 1;
  }

  unescape(): string {
    return this.#done === 0 ? this.#sent : this.#parts.join('') + this.#sent.slice(this.#done);
  }
}

/** Finds the first number of a text that a double cannot hold exactly. */
class Numbers {
  inexact: { readonly at: number; readonly error: ValidationError } | undefined;
  readonly #sent: string;

  constructor(sent: string) {
    this.#sent = sent;
  }

  /** Validates the number at `start`, and returns the index of its last character. */
  pass(start: number): number {
    const end = skipShortNumber(this.#sent, start);
    if (end > start) return end - 1;
    NUMBER.lastIndex = start;
    const [text = ''] = NUMBER.exec(this.#sent) ?? [];
    const error = this.inexact ? undefined : validateNumberText(text);
    if (error) this.inexact = { at: start, error };
    return start + text.length - 1;
  }
}

/** The index of the closing quote of the string that opens at `start`. */
function findStringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length; // JSON.parse will report that it does not end
}

/** Counts the members that JSON.parse kept. */
function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  // What JSON.parse makes has members by name and nothing else.
  const members = value as Readonly<Record<string, unknown>>;
  const names = Object.keys(members);
  let count = Array.isArray(value) ? 0 : names.length;
  for (const name of names) {
    if (typeof members[name] === 'object') count += countMembers(members[name]);
  }
  return count;
}

/**
 * The pointer of the first repeated member of a valid text, or of the number at `end` if no member
 * is repeated. Slow: only for errors.
 */
function* findPointer(text: string, end = text.length): Generator<undefined, string, void> {
  let tokens = 0;
  const open: { readonly names: Set<string>; token: string | number }[] = [];
  for (const { 0: token, 1: name, index } of text.matchAll(TOKENS)) {
    if (index > end) break;
    const top = open.at(-1);
    if (token === '{') open.push({ names: new Set(), token: '' });
    else if (token === '[') open.push({ names: new Set(), token: 0 });
    else if (token === '}' || token === ']') open.pop();
    else if (token === ',' && typeof top?.token === 'number') top.token += 1;
    else if (name !== undefined && top) {
      // A JSON string parses to a string.
      top.token = JSON.parse(token.slice(0, -name.length)) as string;
      if (top.names.has(top.token)) break;
      top.names.add(top.token);
    }
    tokens += 1;
    if (tokens % SLICE_TOKENS === 0) yield;
  }
  return open.map(({ token }) => `/${escapePointer(String(token))}`).join('');
}
