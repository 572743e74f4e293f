/**
 * Parses I-JSON (RFC 7493): well-formed UTF-8, no duplicate members, no numbers that a double
 * cannot hold exactly, and at most 8 levels and 64,000 values. JSON.parse parses; one scan of the
 * text finds what it would accept wrongly. The scan counts members, because JSON.parse keeps only
 * one of several with the same name.
 */
import { isUtf8 } from 'node:buffer';
import { AppError, type Issue } from '../../domain/error.ts';
import { validateNumberText, skipShortNumber } from '../../domain/number-text.ts';
import type { ValidationError } from '../../domain/text.ts';
import { escapePointer } from '../../domain/validation.ts';
import { formatCount } from '../../domain/wording.ts';
import { yieldToEventLoop } from '../../runtime/event-loop.ts';
import { JSON_DEPTH_LIMIT, JSON_VALUES_LIMIT } from '../limits.ts';

/** Strings, with a following colon if they are names, and structural punctuation. */
const TOKENS = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\],]/gs;
/** White space between a name and its colon. */
const SPACE = /\s*/y;
/** A number, or the beginning of something that JSON.parse rejects. */
const NUMBER = /[-+.\deE]+/y;
/** 1 at the codes of the minus and the digits. */
const BEGINS_NUMBER = Uint8Array.from({ length: 128 }, (_, code) =>
  Number(code === 0x2d || (code >= 0x30 && code <= 0x39)));
/** Characters scanned in one time slice. */
const SLICE_CHARACTERS = 32 * 1024;

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
  if (bytes.length === 0) throw invalidJson('The body is empty. Send JSON.');
  if (!isUtf8(bytes)) throw invalidJson('The body is not UTF-8.');
  const body = bytes.toString('utf8');
  const { text, memberCount, inexactNumber } = yield* scan(body);
  yield;
  const value = parse(text);
  yield;
  if (countMembers(value) !== memberCount) {
    yield;
    const pointer = yield* findPointer(body);
    const issue = { pointer, code: 'duplicate', detail: 'Is repeated. Send it once.' } as const;
    throw invalidJson('A member is repeated in the same object.', issue);
  }
  if (inexactNumber) {
    yield;
    const pointer = yield* findPointer(body, inexactNumber.at);
    const issue = { pointer, ...inexactNumber.error };
    throw invalidJson('A number cannot be represented exactly.', issue);
  }
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The engine's message may quote the body, but only the body's sender sees it.
    if (error instanceof SyntaxError) throw invalidJson(`${error.message}.`);
    throw error;
  }
}

function invalidJson(detail: string, ...issues: readonly Issue[]): AppError {
  return new AppError('invalid_json', detail, { issues });
}

interface Scanned {
  /** The text as sent, but with names unescaped. */
  readonly text: string;
  readonly memberCount: number;
  /** The first number that a double cannot hold exactly. */
  readonly inexactNumber: { readonly at: number; readonly error: ValidationError } | undefined;
}

/**
 * Counts the members of a text (its colons outside strings), checks its depth, numbers and number
 * of values, and removes escapes from names.
 */
function* scan(body: string): Generator<undefined, Scanned, void> {
  let [memberCount, depth, values, sliceEnd] = [0, 0, 0, SLICE_CHARACTERS];
  const names = new NameUnescaper(body);
  const numbers = new NumberValidator(body);
  for (let at = 0; at < body.length; at += 1) {
    if (at >= sliceEnd) {
      sliceEnd = at + SLICE_CHARACTERS;
      yield;
    }
    const code = body.charCodeAt(at);
    switch (code) {
      case 0x22: { // a quote: on to the end of the string
        const end = findStringEnd(body, at);
        if (names.nextBackslash < end) names.pass(at, end);
        at = end;
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
          throw invalidJson(`The body is nested deeper than ${JSON_DEPTH_LIMIT} levels.`);
        }
        break;
      case 0x5d: case 0x7d: // a closing one
        depth -= 1;
        break;
      default:
        if (BEGINS_NUMBER[code] === 1) {
          const end = skipShortNumber(body, at);
          at = (end > at ? end : numbers.pass(at)) - 1;
        }
    }
  }
  if (values > JSON_VALUES_LIMIT) throw tooManyValues();
  return { text: names.finish(), memberCount, inexactNumber: numbers.firstInexact };
}

function tooManyValues(): AppError {
  const limit = formatCount(JSON_VALUES_LIMIT);
  return invalidJson(`The body has more than ${limit} members and items.`);
}

/** Removes escapes from the member names of a text, which is scanned from its start to its end. */
class NameUnescaper {
  readonly #text: string;
  /** The text up to `#copiedTo`. */
  readonly #parts: string[] = [];
  #copiedTo = 0;
  /** Infinity if there is none. */
  nextBackslash = 0;

  constructor(text: string) {
    this.#text = text;
    this.#findNext(0);
  }

  /** Passes a string that has a backslash. `start` and `end` are the indexes of its quotes. */
  pass(start: number, end: number): void {
    const text = this.#text;
    this.#findNext(end);
    if (!isName(text, end)) return;
    this.#parts.push(text.slice(this.#copiedTo, start), unescapeName(text.slice(start, end + 1)));
    this.#copiedTo = end + 1;
  }

  #findNext(from: number): void {
    const index = this.#text.indexOf('\\', from);
    this.nextBackslash = index < 0 ? Infinity : index;
  }

  /** The text with its names unescaped. */
  finish(): string {
    return this.#parts.join('') + this.#text.slice(this.#copiedTo);
  }
}

/** Finds the first number of a text that a double cannot hold exactly. */
class NumberValidator {
  readonly #text: string;
  firstInexact: Scanned['inexactNumber'];

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns the end of the number that starts here. */
  pass(at: number): number {
    NUMBER.lastIndex = at;
    const [text = ''] = NUMBER.exec(this.#text) ?? [];
    const error = this.firstInexact ? undefined : validateNumberText(text);
    if (error) this.firstInexact = { at, error };
    return at + text.length;
  }
}

/** Whether the string that ends at `end` is a member name. */
function isName(text: string, end: number): boolean {
  SPACE.lastIndex = end + 1;
  SPACE.test(text);
  return text[SPACE.lastIndex] === ':';
}

/**
 * Removes escapes from a member name, because V8 may confuse an escaped name with another one that
 * it has seen before (https://github.com/nodejs/node/issues/63785). Rejects names that need
 * escapes: those with quotes, backslashes or control characters.
 */
function unescapeName(quoted: string): string {
  const name = JSON.stringify(parse(quoted));
  if (!name.includes('\\')) return name;
  const hint = 'Use names without quotes, backslashes and control characters.';
  throw invalidJson(`The member name ${name} is not accepted. ${hint}`);
}

/** The index of the closing quote of the string that opens at `start`. */
function findStringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length; // unterminated: JSON.parse reports it
}

/** Counts the members that JSON.parse kept. */
function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  // The cast: JSON.parse returns plain objects and arrays.
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
  let sliceEnd = SLICE_CHARACTERS;
  const open: { readonly names: Set<string>; token: string | number }[] = [];
  for (const { 0: token, 1: name, index } of text.matchAll(TOKENS)) {
    if (index > end) break;
    const top = open.at(-1);
    if (token === '{') open.push({ names: new Set(), token: '' });
    else if (token === '[') open.push({ names: new Set(), token: 0 });
    else if (token === '}' || token === ']') open.pop();
    else if (token === ',' && typeof top?.token === 'number') top.token += 1;
    else if (name !== undefined && top) {
      // The cast: a JSON string parses to a string.
      top.token = JSON.parse(token.slice(0, -name.length)) as string;
      if (top.names.has(top.token)) break;
      top.names.add(top.token);
    }
    if (index < sliceEnd) continue;
    sliceEnd = index + SLICE_CHARACTERS;
    yield;
  }
  return open.map(({ token }) => `/${escapePointer(String(token))}`).join('');
}
