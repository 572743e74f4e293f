/**
 * Checks in the transaction of a mutation for owners that the account which asks is an owner still:
 * its role may have changed, or its account may have been removed, while the request was in flight.
 */
import type { Requester } from '../../../domain/access/audit.ts';
import { AppError } from '../../../domain/error.ts';
import type { SellerId } from '../../../domain/id.ts';
import type { Sql } from '../sql.ts';

/** Keys and the operator have no account, and are checked elsewhere. */
export function prepareAssertOwner(sql: Sql) {
  const find = sql.prepare(`
    SELECT id FROM account
    WHERE seller_id = :sellerId AND id = :accountId AND role = 'owner'`);
  /** @throws AppError `browser_refused` */
  return async (
    sellerId: SellerId, by: Pick<Requester, 'accountId'> | null | undefined,
  ): Promise<void> => {
    // A parameter that is undefined may have become null on its way to this thread.
    const accountId = by?.accountId;
    if (accountId == null || await find.get({ sellerId, accountId })) return;
    throw new AppError('browser_refused', 'You are no longer an owner. Nothing was changed.');
  };
}
