/**
 * On which worker Citus keeps each seller. Sellers of one worker share transactions: those of
 * several would need two-phase commits. A place that has changed makes them slower, not wrong.
 */
import type { SellerId } from '../../../domain/id.ts';
import { readInteger } from '../../sql/sql.ts';
import { POSTGRES_KEY_OWNERS_LIMIT } from '../limits.ts';
import type { Query } from '../sql.ts';

/** Sellers with the same number may share a transaction. */
export type FindPlace = (sellerId: SellerId) => number;

const FIND_GROUP = `
  SELECT min(groupid) AS place FROM pg_dist_placement
  WHERE shardid = get_shard_id_for_distribution_column('seller', $1::bigint)`;

export function openPlacement(query: Query): FindPlace {
  const places = new Map<SellerId, number>();
  return (sellerId) => {
    const place = places.get(sellerId);
    if (place !== undefined) return place;
    if (places.size >= POSTGRES_KEY_OWNERS_LIMIT) places.clear();
    places.set(sellerId, -sellerId); // a place of its own, until it is known
    query(FIND_GROUP, sellerId).then(([row]) => {
      if (row) places.set(sellerId, readInteger(row, 'place'));
    }).catch(() => places.delete(sellerId));
    return -sellerId;
  };
}
