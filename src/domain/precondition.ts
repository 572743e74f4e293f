/**
 * Preconditions of requests (RFC 9110 section 13), as positions: a product's entity tag is the
 * position of its last change. The store evaluates them in the same transaction as the change.
 */
import { AppError } from './error.ts';

/** The product's position must be one of these; `*` matches any existing product. */
export type PositionSet = readonly number[] | '*';

export interface Precondition {
  readonly ifMatch?: PositionSet | undefined;
  readonly ifNoneMatch?: PositionSet | undefined;
}

/**
 * @param position Undefined if there is no such product.
 * @throws AppError `precondition_failed`
 */
export function assertPrecondition(
  { ifMatch, ifNoneMatch }: Precondition, position: number | undefined,
): void {
  if (ifMatch !== undefined && !isAmong(ifMatch, position)) {
    const mismatch = position === undefined
      ? 'No such product exists, so If-Match does not match.'
      : `The product has changed: its ETag is "${position}".`;
    throw new AppError('precondition_failed', `${mismatch} Read it again before you change it.`);
  }
  if (ifNoneMatch !== undefined && isAmong(ifNoneMatch, position)) {
    const detail = `The product's ETag is "${position}", which If-None-Match excludes.`;
    throw new AppError('precondition_failed', `${detail} Nothing was changed.`);
  }
}

function isAmong(positions: PositionSet, position: number | undefined): boolean {
  if (position === undefined) return false;
  return positions === '*' || positions.includes(position);
}
