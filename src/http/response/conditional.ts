/**
 * Entity tags and conditional requests (RFC 9110 sections 8.8.3 and 13). The tag of what stands at
 * a position is the position; the tag of its compressed form says the coding too, `"12-gzip"`, and
 * means the same position wherever a client sends it.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../../domain/error.ts';
import {
  assertPrecondition, type PositionSet, type Precondition,
} from '../../domain/precondition.ts';
import type { ContentCoding } from '../request/negotiate.ts';

const TAGS = /(W\/)?("[^"]*")/g;
// Recipients take empty elements of a list (RFC 9110 section 5.6.1.2).
const TAG_LIST = /^[\t ,]*(?:(?:W\/)?"[^"]*"[\t ]*(?:,[\t ,]*|$))+$/;
const CODED_END = /-(?:br|gzip)"$/;
/** At most 15 digits: a larger number might be rounded to one that is a position. */
const POSITION_TAG = /^"(0|[1-9]\d{0,14})"$/;
const NONE: Precondition = {};

/** The strong entity tag of what stands at a position. */
export function formatEntityTag(position: number): string {
  return `"${position}"`;
}

/** The tag of the form of `tag` that is sent in this coding. */
export function formatCodedTag(tag: string, coding: ContentCoding): string {
  return tag.replace(/"$/, `-${coding}"`);
}

/**
 * The conditions under which a change may be made: `If-Match` by strong comparison, `If-None-Match`
 * by weak. Tags that are none of ours match nothing.
 * @throws AppError `invalid_data` where a field is no list of entity tags
 */
export function readPrecondition(headers: IncomingHttpHeaders): Precondition {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  if (ifMatch === undefined && ifNoneMatch === undefined) return NONE;
  return {
    ifMatch: ifMatch === undefined ? undefined : parsePositions('If-Match', ifMatch, false),
    ifNoneMatch: ifNoneMatch === undefined
      ? undefined : parsePositions('If-None-Match', ifNoneMatch, true),
  };
}

/**
 * Asserts that `If-Match`, if it is sent, holds this tag, by strong comparison.
 * @throws AppError `precondition_failed`, and `invalid_data` as above
 */
export function assertMatch(header: string | undefined, tag: string): void {
  if (header === undefined) return;
  const ifMatch = parsePositions('If-Match', header, false);
  assertPrecondition({ ifMatch }, Number(POSITION_TAG.exec(tag)?.[1]));
}

/** Whether `If-None-Match` holds this tag, by weak comparison: then the answer is 304. */
export function isNoneMatch(header: string | undefined, tag: string): boolean {
  return findNoneMatch(header, tag) !== undefined;
}

/** The form of this tag that `If-None-Match` holds: what the 304 has to name. */
export function findNoneMatch(header: string | undefined, tag: string): string | undefined {
  if (header === undefined) return undefined;
  if (header === tag || header.trim() === '*') return tag;
  const found = [...header.matchAll(TAGS)].find(([, , opaque = '']) => decode(opaque) === tag);
  return found?.[2];
}

function parsePositions(field: string, header: string, isWeak: boolean): PositionSet {
  if (header.trim() === '*') return '*';
  if (!TAG_LIST.test(header)) {
    const example = `such as ${field}: "12", as you got it in ETag`;
    throw new AppError('invalid_data', `${field} must be * or entity tags, ${example}.`);
  }
  return [...header.matchAll(TAGS)].flatMap(([, weak, opaque = '']) => {
    const [, position] = POSITION_TAG.exec(decode(opaque)) ?? [];
    return position === undefined || (weak && !isWeak) ? [] : [Number(position)];
  });
}

/** The tag of the form without a coding. */
function decode(tag: string): string {
  return tag.replace(CODED_END, '"');
}
