/** The account that a seller's registration created, for the store's methods. */
import type { AccountReference } from '../../src/domain/access/account.ts';
import type { AccountId, SellerId } from '../../src/domain/id.ts';

export function ownerOf(sellerId: SellerId): AccountReference {
  // The cast: accounts are numbered from 1.
  return { sellerId, accountId: 1 as AccountId };
}
