/**
 * Entity tags and conditional requests (RFC 9110 sections 8.8.3 and 13). A resource's tag is its
 * revision. The tag of a compressed form adds the coding (`"12-gzip"`) and always means the same
 * revision.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../../domain/error.ts';
import {
  assertPrecondition, type Precondition, type RevisionSet,
} from '../../domain/precondition.ts';
import { findRevision, type Revision } from '../../domain/revision.ts';
import type { ContentCoding } from '../request/negotiate.ts';

const TAGS = /(W\/)?("[^"]*")/g;
// Recipients accept empty list elements (RFC 9110 section 5.6.1.2).
const TAG_LIST = /^[\t ,]*(?:(?:W\/)?"[^"]*"[\t ]*(?:,[\t ,]*|$))+$/;
const CODED_END = /-(?:br|gzip)"$/;
const NONE: Precondition = {};

/** The strong entity tag of a revision. */
export function formatEntityTag(revision: Revision): string {
  return `"${revision}"`;
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
    ifMatch: parseRevisions('If-Match', ifMatch, false),
    ifNoneMatch: parseRevisions('If-None-Match', ifNoneMatch, true),
  };
}

/**
 * Asserts that `If-Match`, if sent, contains this tag, by strong comparison.
 * @throws AppError `precondition_failed`; `invalid_data` as above
 */
export function assertMatch(header: string | undefined, tag: string): void {
  if (header === undefined) return;
  const ifMatch = parseRevisions('If-Match', header, false);
  assertPrecondition({ ifMatch }, findRevision(tag.slice(1, -1)));
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

function parseRevisions(
  field: string, header: string | undefined, isWeak: boolean,
): RevisionSet | undefined {
  if (header === undefined) return undefined;
  if (header.trim() === '*') return '*';
  if (!TAG_LIST.test(header)) {
    const example = `such as ${field}: "12", from the ETag header`;
    throw new AppError('invalid_data', `${field} must be * or entity tags, ${example}.`);
  }
  const tags = [...header.matchAll(TAGS)];
  if (!isWeak && tags.every(([, weak]) => weak)) return 'weak';
  return tags.flatMap(([, weak, opaque = '']) => {
    const revision = findRevision(decode(opaque).slice(1, -1));
    return revision === undefined || (weak && !isWeak) ? [] : [revision];
  });
}

/** The tag without a coding. */
function decode(tag: string): string {
  return tag.replace(CODED_END, '"');
}
