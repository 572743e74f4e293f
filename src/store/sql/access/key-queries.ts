/** Queries of API keys, and their row mappers. */
import type { ApiKey } from '../../../domain/access/api-key.ts';
import { isScope } from '../../../domain/access/caller.ts';
import type { KeyId, SellerId } from '../../../domain/id.ts';
import type { AccessStore, Grant } from '../../access-store.ts';
import type { QueriesOf } from '../port-methods.ts';
import {
  prepareFind, prepareList, readCurrency, readId, readInteger, readOptional, readText, type Row,
  type Sql,
} from '../sql.ts';

/** Columns for `mapKey`. */
export const KEY_COLUMNS = `seller_id, id, name, scopes, address_ranges, created_at, expires_at,
  rate_limit_per_minute, revoked_at, last_used_at, last_used_address, last_four, successor_id,
  created_by`;

/** All keys end after -1, and revoked ones at 0. */
const ENDS_LATER = `CASE WHEN revoked_at IS NULL
  THEN coalesce(expires_at, ${Number.MAX_SAFE_INTEGER}) ELSE 0 END > :liveAt`;

export function keyQueries(sql: Sql) {
  const find = prepareFind(sql, mapKey, `
    SELECT ${KEY_COLUMNS} FROM api_key WHERE seller_id = :sellerId AND id = :keyId`);
  const findByHash = prepareFind(sql, mapKey, `
    SELECT ${KEY_COLUMNS} FROM api_key WHERE seller_id = :sellerId AND hash = :hash`);
  const list = prepareList(sql, mapKey, `
    SELECT ${KEY_COLUMNS} FROM api_key
    WHERE seller_id = :sellerId AND id > :after AND ${ENDS_LATER}
    ORDER BY id LIMIT :limit`);
  const listNewest = prepareList(sql, mapKey, `
    SELECT ${KEY_COLUMNS} FROM api_key
    WHERE seller_id = :sellerId AND id < :before AND ${ENDS_LATER}
    ORDER BY id DESC LIMIT :limit`);
  return {
    findKey: ({ sellerId, keyId }) => find({ sellerId, keyId }),
    findKeyByHash: (sellerId, hash) => findByHash({ sellerId, hash }),
    listKeys(sellerId, { after, limit, liveAt = -1 }, isNewestFirst = false) {
      const before = after ?? Number.MAX_SAFE_INTEGER;
      return isNewestFirst ? listNewest({ sellerId, before, limit, liveAt })
        : list({ sellerId, after: after ?? 0, limit, liveAt });
    },
  } satisfies Partial<QueriesOf<AccessStore>>;
}

export function mapKey(row: Row): ApiKey {
  return {
    sellerId: readId<SellerId>(row, 'seller_id'),
    id: readId<KeyId>(row, 'id'),
    name: readText(row, 'name'),
    ...readGranted(row),
    createdAt: readInteger(row, 'created_at'),
    createdBy: readOptional(row, 'created_by', readText),
    revokedAt: readOptional(row, 'revoked_at', readInteger),
    lastUsedAt: readOptional(row, 'last_used_at', readInteger),
    lastUsedAddress: readOptional(row, 'last_used_address', readText),
    lastFour: readText(row, 'last_four'),
    successorId: readOptional(row, 'successor_id', readId<KeyId>),
  };
}

/** What a key grants, from a row with the currency and the position of its seller. */
export function mapGrant(sellerId: SellerId, row: Row): Grant {
  return {
    sellerId, keyId: readId<KeyId>(row, 'id'), ...readGranted(row),
    livedUntil: readOptional(row, 'lived_until', readInteger),
    currency: readCurrency(row), position: readInteger(row, 'position'),
  };
}

/** A key's permissions, allowed addresses, expiry and rate limit. */
function readGranted(row: Row) {
  return {
    scopes: readText(row, 'scopes').split(' ').filter(isScope),
    addressRanges: readText(row, 'address_ranges').split(' ').filter(Boolean),
    expiresAt: readOptional(row, 'expires_at', readInteger),
    rateLimitPerMinute: readOptional(row, 'rate_limit_per_minute', readInteger),
  };
}
