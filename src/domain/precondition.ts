/**
 * Preconditions of a request (RFC 9110 section 13) as positions: a product's entity tag is the
 * position of its last change. The store evaluates them in the transaction of the change.
 */
import { AppError } from './error.ts';

/** Positions, one of which must be the product's; `*` for any existing product. */
export type PositionSet = readonly number[] | '*';

/** Absent conditions always hold. */
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
    const what = position === undefined
      ? 'There is no such product to match If-Match.'
      : `The product has changed: it stands at "${position}".`;
    throw new AppError('precondition_failed', `${what} Read it again before you change it.`);
  }
  if (ifNoneMatch !== undefined && isAmong(ifNoneMatch, position)) {
    const detail = `The product stands at "${position}", which If-None-Match rules out.`;
    throw new AppError('precondition_failed', `${detail} Nothing was changed.`);
  }
}

function isAmong(positions: PositionSet, position: number | undefined): boolean {
  if (position === undefined) return false;
  return positions === '*' || positions.includes(position);
}
