/**
 * Entity tags and conditional requests (RFC 9110 sections 8.8.3 and 13). A resource's tag is its
 * position. The tag of a compressed form adds the coding (`"12-gzip"`) and always means the same
 * position.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../../domain/error.ts';
import {
  assertPrecondition, type PositionSet, type Precondition,
} from '../../domain/precondition.ts';
import type { ContentCoding } from '../request/negotiate.ts';

const TAGS = /(W\/)?("[^"]*")/g;
// Recipients accept empty list elements (RFC 9110 section 5.6.1.2).
const TAG_LIST = /^[\t ,]*(?:(?:W\/)?"[^"]*"[\t ]*(?:,[\t ,]*|$))+$/;
const CODED_END = /-(?:br|gzip)"$/;
/** At most 15 digits: a larger number could be rounded to a valid position. */
const POSITION_TAG = /^"(0|[1-9]\d{0,14})"$/;
const NONE: Precondition = {};

/** The strong entity tag of a position. */
export function formatEntityTag(position: number): string {
  return `"${position}"`;
}

/** The resource's tag in this coding. */
export function formatCodedTag(tag: string, coding: ContentCoding): string {
  return tag.replace(/"$/, `-${coding}"`);
}

/**
 * The conditions of a write: `If-Match` by strong comparison, `If-None-Match` by weak. Tags that
 * this server did not issue match nothing.
 * @throws AppError `invalid_data` if a field is not a list of entity tags
 */
export function readPrecondition(headers: IncomingHttpHeaders): Precondition {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  if (ifMatch === undefined && ifNoneMatch === undefined) return NONE;
  return {
    ifMatch: parsePositions('If-Match', ifMatch, false),
    ifNoneMatch: parsePositions('If-None-Match', ifNoneMatch, true),
  };
}

/**
 * Asserts that `If-Match`, if sent, contains this tag, by strong comparison.
 * @throws AppError `precondition_failed`; `invalid_data` as above
 */
export function assertMatch(header: string | undefined, tag: string): void {
  if (header === undefined) return;
  const ifMatch = parsePositions('If-Match', header, false);
  assertPrecondition({ ifMatch }, Number(POSITION_TAG.exec(tag)?.[1]));
}

/** Whether `If-None-Match` contains this tag, by weak comparison: the response is then 304. */
export function isNoneMatch(header: string | undefined, tag: string): boolean {
  return findNoneMatch(header, tag) !== undefined;
}

/** The form of this tag in `If-None-Match`, which the 304 must repeat. */
export function findNoneMatch(header: string | undefined, tag: string): string | undefined {
  if (header === undefined) return undefined;
  if (header === tag || header.trim() === '*') return tag;
  const match = [...header.matchAll(TAGS)].find(([, , opaque = '']) => decode(opaque) === tag);
  return match?.[2];
}

function parsePositions(
  field: string, header: string | undefined, isWeak: boolean,
): PositionSet | undefined {
  if (header === undefined) return undefined;
  if (header.trim() === '*') return '*';
  if (!TAG_LIST.test(header)) {
    const example = `such as ${field}: "12", from the ETag header`;
    throw new AppError('invalid_data', `${field} must be * or entity tags, ${example}.`);
  }
  return [...header.matchAll(TAGS)].flatMap(([, weak, opaque = '']) => {
    const [, position] = POSITION_TAG.exec(decode(opaque)) ?? [];
    return position === undefined || (weak && !isWeak) ? [] : [Number(position)];
  });
}

/** The tag without a coding. */
function decode(tag: string): string {
  return tag.replace(CODED_END, '"');
}
