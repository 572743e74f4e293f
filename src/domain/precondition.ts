/**
 * Preconditions of requests (RFC 9110 section 13), as revisions: a product's entity tag is that of
 * its last change. The store evaluates them in the same transaction as the change.
 */
import { AppError } from './error.ts';
import type { Revision } from './revision.ts';

/**
 * The product's revision must be one of these; `*` matches any existing product, and `weak`, which
 * means that only weak entity tags were sent, none.
 */
export type RevisionSet = readonly Revision[] | '*' | 'weak';

export interface Precondition {
  readonly ifMatch?: RevisionSet | undefined;
  readonly ifNoneMatch?: RevisionSet | undefined;
}

/**
 * @param revision Undefined if there is no such product.
 * @throws AppError `precondition_failed`
 */
export function assertPrecondition(
  { ifMatch, ifNoneMatch }: Precondition, revision: Revision | undefined,
): void {
  if (ifMatch !== undefined && !isAmong(ifMatch, revision)) {
    const restored = typeof revision === 'string' ? ', or the catalogue was restored' : '';
    const mismatch = revision === undefined
      ? 'No such product exists, so If-Match does not match.'
      : `The product has changed${restored}: its ETag is "${revision}".`;
    throw new AppError('precondition_failed', ifMatch === 'weak' && revision !== undefined
      ? `${WEAK} The product's ETag is "${revision}".`
      : `${mismatch} Read it again before you change it.`);
  }
  if (ifNoneMatch !== undefined && isAmong(ifNoneMatch, revision)) {
    const detail = `The product's ETag is "${revision}", which If-None-Match excludes.`;
    throw new AppError('precondition_failed', `${detail} Nothing was changed.`);
  }
}

/** RFC 9110 section 13.1.1: the comparison is strong. */
const WEAK = 'If-Match has only weak ETags (W/), which never match. A proxy that compresses '
  + 'responses weakens ETags, such as nginx with gzip. Send the ETag without W/.';

function isAmong(revisions: RevisionSet, revision: Revision | undefined): boolean {
  if (revision === undefined) return false;
  return revisions === '*' || (revisions !== 'weak' && revisions.includes(revision));
}
