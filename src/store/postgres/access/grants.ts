/**
 * What keys grant. A request knows only the hash of its key. The seller of a key never changes, so
 * each node remembers it; everything else is read for every request, by the seller.
 */
import type { SellerId } from '../../../domain/id.ts';
import { BoundedMap } from '../../../runtime/bounded-map.ts';
import type { Grant } from '../../access-store.ts';
import { mapGrant } from '../../sql/access/key-queries.ts';
import { readId } from '../../sql/sql.ts';
import { POSTGRES_KEY_OWNERS_LIMIT } from '../limits.ts';
import { type Query, queryOf, type Runner } from '../sql.ts';

const FIND_OWNER = 'SELECT seller_id FROM key_owner WHERE hash = $1';
const FIND_GRANT = `
  SELECT k.id, k.scopes, k.address_ranges, k.expires_at, k.lived_until,
    k.rate_limit_per_minute, s.currency, s.currency_decimals, s.position
  FROM api_key AS k JOIN seller AS s ON s.id = k.seller_id
  WHERE k.seller_id = $1 AND k.hash = $2 AND s.id = $1 AND k.revoked_at IS NULL
    AND s.disabled_at IS NULL`;

export function prepareFindGrant(runner: Runner): (hash: string) => Promise<Grant | undefined> {
  const owners = new BoundedMap<string, SellerId>(POSTGRES_KEY_OWNERS_LIMIT);
  /**
   * Reads that concurrent requests share, which mostly have the same few keys; until they are sent,
   * since the server may answer from then on without what is committed later.
   */
  const unsent = new Map<string, Promise<Grant | undefined>>();

  async function find(hash: string, query: Query): Promise<Grant | undefined> {
    const sellerId = owners.get(hash) ?? await findOwner(hash, query);
    if (sellerId === undefined) return undefined;
    const [row] = await query(FIND_GRANT, sellerId, hash);
    return row && mapGrant(sellerId, row);
  }

  async function findOwner(hash: string, query: Query): Promise<SellerId | undefined> {
    const [row] = await query(FIND_OWNER, hash);
    if (!row) return undefined;
    const sellerId = readId<SellerId>(row, 'seller_id');
    owners.set(hash, sellerId);
    return sellerId;
  }

  return (hash) => {
    const shared = unsent.get(hash);
    if (shared) return shared;
    const end = (): void => void unsent.delete(hash);
    const grant = find(hash, queryOf(runner, end));
    unsent.set(hash, grant);
    grant.catch(end);
    return grant;
  };
}
