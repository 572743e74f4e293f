/**
 * Reads I-JSON (RFC 7493): UTF-8 that is well-formed, no member twice, no number that overflows a
 * double, and at most 8 levels. JSON.parse does the reading; what it would let pass is found by one
 * scan of the text, which counts the members: JSON.parse keeps one of several with the same name.
 */
import { isUtf8 } from 'node:buffer';
import { AppError } from '../domain/error.ts';
import { escapePointer } from '../domain/parsed.ts';
import { JSON_DEPTH_LIMIT } from './limits.ts';

/** Strings, with the colon that makes one a name, and the punctuation that tells where they are. */
const TOKENS = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\],]/gs;

/** @throws AppError `invalid_json` */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) throw new AppError('invalid_json', 'The body is empty. Send JSON.');
  if (!isUtf8(bytes)) throw new AppError('invalid_json', 'The body is not UTF-8.');
  const sent = bytes.toString('utf8');
  const text = sent.includes('\\') ? respellNames(sent) : sent;
  const memberCount = scan(text);
  const value = parse(text);
  if (countMembers(value, '') !== memberCount) {
    const pointer = findDuplicate(text);
    throw new AppError('invalid_json', 'A member stands twice in the same object.', {
      issues: [{ pointer, code: 'duplicate', detail: 'May be given once.' }],
    });
  }
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The engine's message may quote the text that was sent: that goes back to its sender alone.
    if (error instanceof SyntaxError) throw new AppError('invalid_json', `${error.message}.`);
    throw error;
  }
}

/** Counts the members of a text, that is its colons outside strings, and checks its depth. */
function scan(text: string): number {
  let members = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case 0x22: // a quote: on to the end of the string
        at = findStringEnd(text, at);
        break;
      case 0x3a: // a colon
        members += 1;
        break;
      case 0x5b: case 0x7b: // an opening bracket or brace
        depth += 1;
        if (depth > JSON_DEPTH_LIMIT) {
          const detail = `The body is nested deeper than ${JSON_DEPTH_LIMIT} levels.`;
          throw new AppError('invalid_json', detail);
        }
        break;
      case 0x5d: case 0x7d: // a closing one
        depth -= 1;
        break;
      default:
    }
  }
  return members;
}

/** The place of the closing quote of the string that opens at `start`. */
function findStringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length; // JSON.parse will say that it does not end
}

/** Counts the members that JSON.parse kept, and refuses numbers that overflowed on the way. */
function countMembers(value: unknown, pointer: string): number {
  if (typeof value === 'number') assertFinite(value, pointer);
  if (typeof value !== 'object' || value === null) return 0;
  // What JSON.parse makes has members by name and nothing else.
  const members = value as Readonly<Record<string, unknown>>;
  const names = Object.keys(members);
  let count = Array.isArray(value) ? 0 : names.length;
  for (const name of names) {
    const member = members[name];
    // Numbers that are in order need no pointer: building it would cost more than the check.
    if (typeof member === 'object' || (typeof member === 'number' && !Number.isFinite(member))) {
      count += countMembers(member, `${pointer}/${escapePointer(name)}`);
    }
  }
  return count;
}

function assertFinite(value: number, pointer: string): void {
  if (Number.isFinite(value)) return;
  throw new AppError('invalid_json', 'A number is too large for a double.', {
    issues: [{ pointer, code: 'range', detail: 'Is too large for a number of I-JSON.' }],
  });
}

/**
 * Writes member names without escapes, for V8 may take an escaped name for another one that it has
 * seen before (https://github.com/nodejs/node/issues/63785). A name that cannot be written so has
 * quotes, backslashes or control characters in it, and is refused.
 */
function respellNames(text: string): string {
  parse(text); // or TOKENS would search a string that does not end anew from each of its quotes
  return text.replace(TOKENS, (token: string, colon: string | undefined) => {
    if (colon === undefined || !token.includes('\\')) return token;
    const name = JSON.stringify(parse(token.slice(0, -colon.length)));
    if (!name.includes('\\')) return name + colon;
    const hint = 'Use names without quotes, backslashes and control characters.';
    throw new AppError('invalid_json', `The member name ${name} is not accepted. ${hint}`);
  });
}

/** Where the first repeated member of a valid text stands. Slow, and only for the error. */
function findDuplicate(text: string): string {
  const open: { readonly names: Set<string>; token: string | number }[] = [];
  const pointer = (): string =>
    open.map(({ token }) => `/${escapePointer(String(token))}`).join('');
  for (const [token, name] of text.matchAll(TOKENS)) {
    const top = open.at(-1);
    if (token === '{') open.push({ names: new Set(), token: '' });
    else if (token === '[') open.push({ names: new Set(), token: 0 });
    else if (token === '}' || token === ']') open.pop();
    else if (token === ',' && typeof top?.token === 'number') top.token += 1;
    else if (name !== undefined && top) {
      // A JSON string parses to a string.
      top.token = JSON.parse(token.slice(0, -name.length)) as string;
      if (top.names.has(top.token)) return pointer();
      top.names.add(top.token);
    }
  }
  return '';
}
