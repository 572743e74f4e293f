/** API keys in SQLite, stored as hashes only: statements and row mapper. */
import type { DatabaseSync } from 'node:sqlite';
import type { ApiKey, NewApiKey } from '../../../domain/access/api-key.ts';
import type { AuditType } from '../../../domain/access/audit.ts';
import { AppError } from '../../../domain/error.ts';
import {
  formatKeyId, type KeyId, type KeyReference, nextId, type SellerId,
} from '../../../domain/id.ts';
import { LIVE_KEYS_PER_SELLER_LIMIT } from '../../../domain/limits.ts';
import { isScope } from '../../../domain/access/caller.ts';
import type { AccessStore } from '../../access-store.ts';
import type { AuditLog } from '../accounts/audit.ts';
import type { MutationsOf, QueriesOf } from '../engine/port-methods.ts';
import {
  readCurrency, readId, readInteger, readOptional, readText, type Row,
} from '../engine/row.ts';

const COLUMNS = `seller_id, id, name, scopes, address_ranges, created_at, expires_at, revoked_at,
  last_used_at, last_used_address`;
const LIVE = 'revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :at)';

/** Names and order of the members are hashed (rules/idempotency.ts). */
interface Creation {
  readonly sellerId: SellerId;
  readonly hash: string;
  readonly key: NewApiKey;
  readonly address: string;
}

interface Rotation {
  readonly key: KeyReference;
  readonly hash: string;
  readonly overlapMs: number;
  readonly address: string;
}

export type KeyMutations = ReturnType<typeof keyMutations>;

export function keyMutations(db: DatabaseSync, audit: AuditLog) {
  const addKey = prepareAddKey(db);
  const findLive = db.prepare(`
    SELECT ${COLUMNS}, life_ms FROM api_key
    WHERE seller_id = :sellerId AND id = :keyId AND ${LIVE}`);
  const expire = db.prepare(`
    UPDATE api_key SET expires_at = min(coalesce(expires_at, :endsAt), :endsAt)
    WHERE seller_id = :sellerId AND id = :keyId`);
  const revoke = db.prepare(`
    UPDATE api_key SET revoked_at = coalesce(revoked_at, ?)
    WHERE seller_id = ? AND id = ? RETURNING ${COLUMNS}`);
  const noteUse = db.prepare(`
    UPDATE api_key SET last_used_at = ?, last_used_address = ? WHERE seller_id = ? AND id = ?`);

  function note(
    type: AuditType, { sellerId, id, name }: ApiKey, address: string | undefined, at: number,
  ): void {
    const subject = `${formatKeyId({ sellerId, keyId: id })} ${name}`;
    audit.add({ sellerId, type, address, subject }, at);
  }

  return {
    createKey(input: Creation, at: number): ApiKey {
      const made = addKey(input, at);
      note('key_created', made, input.address, at);
      return made;
    },
    rotateKey({ key: { sellerId, keyId }, hash, overlapMs, address }: Rotation, at: number) {
      const row = findLive.get({ sellerId, keyId, at });
      if (!row) throw new AppError('not_found', 'There is no such key that can still be used.');
      const lifeMs = readOptional(row, 'life_ms', readInteger);
      const expiresAt = lifeMs === undefined ? undefined : at + lifeMs;
      const old = mapKey(row);
      const made = addKey({ sellerId, hash, key: { ...old, expiresAt } }, at);
      expire.run({ sellerId, keyId, endsAt: at + overlapMs });
      note('key_rotated', old, address, at);
      return made;
    },
    ...{
      revokeKey([{ sellerId, keyId }, address], at) {
        const row = revoke.get(at, sellerId, keyId);
        if (!row) throw new AppError('not_found', 'There is no such key.');
        const revoked = mapKey(row);
        if (revoked.revokedAt === at) note('key_revoked', revoked, address, at);
        return revoked;
      },
      noteKeyUse([{ sellerId, keyId }, address], at) {
        noteUse.run(at, address, sellerId, keyId);
      },
    } satisfies Partial<MutationsOf<AccessStore>>,
  };
}

function prepareAddKey(db: DatabaseSync) {
  const findSeller = db.prepare(`
    SELECT (SELECT count(*) FROM api_key WHERE seller_id = s.id AND ${LIVE}) AS live,
      (SELECT coalesce(max(id), 0) FROM api_key WHERE seller_id = s.id) AS last_id
    FROM seller AS s WHERE s.id = :sellerId`);
  const insert = db.prepare(`
    INSERT INTO api_key
      (seller_id, id, hash, name, scopes, address_ranges, created_at, life_ms, expires_at)
    VALUES (:sellerId, :id, :hash, :name, :scopes, :ranges, :at, max(:expiresAt - :at, 0),
      :expiresAt)
    RETURNING ${COLUMNS}`);

  return ({ sellerId, hash, key }: Omit<Creation, 'address'>, at: number): ApiKey => {
    const seller = findSeller.get({ sellerId, at });
    if (!seller) throw new AppError('not_found', 'There is no such seller.');
    if (readInteger(seller, 'live') >= LIVE_KEYS_PER_SELLER_LIMIT) {
      const limit = `${LIVE_KEYS_PER_SELLER_LIMIT} keys that can be used`;
      throw new AppError('limit_reached', `The seller has ${limit}. Revoke one first.`);
    }
    const { name, scopes, addressRanges, expiresAt = null } = key;
    return mapKey(insert.get({
      sellerId, id: nextId(readInteger(seller, 'last_id'), at), hash, at, name, expiresAt,
      scopes: scopes.join(' '), ranges: addressRanges.join(' '),
    }) ?? {});
  };
}

export function keyQueries(db: DatabaseSync) {
  const find = db.prepare(`SELECT ${COLUMNS} FROM api_key WHERE seller_id = ? AND id = ?`);
  const list = db.prepare(`
    SELECT ${COLUMNS} FROM api_key WHERE seller_id = ? AND id > ? ORDER BY id LIMIT ?`);
  const listNewest = db.prepare(`
    SELECT ${COLUMNS} FROM api_key WHERE seller_id = ? AND id < ? ORDER BY id DESC LIMIT ?`);
  // Not filtered by seller_id: it finds the seller.
  const findGrant = db.prepare(`
    SELECT k.seller_id, k.id, k.scopes, k.address_ranges, k.expires_at,
      s.currency, s.currency_decimals, s.position
    FROM api_key AS k JOIN seller AS s ON s.id = k.seller_id
    WHERE k.hash = ? AND k.revoked_at IS NULL AND s.disabled_at IS NULL`);
  return {
    findKey({ sellerId, keyId }) {
      const row = find.get(sellerId, keyId);
      return row && mapKey(row);
    },
    listKeys(sellerId, { after, limit }, isNewestFirst = false) {
      const rows = isNewestFirst
        ? listNewest.all(sellerId, after ?? Number.MAX_SAFE_INTEGER, limit)
        : list.all(sellerId, after ?? 0, limit);
      return rows.map(mapKey);
    },
    findGrant(hash) {
      const row = findGrant.get(hash);
      return row && {
        sellerId: readId<SellerId>(row, 'seller_id'),
        keyId: readId<KeyId>(row, 'id'),
        ...readGranted(row),
        currency: readCurrency(row),
        position: readInteger(row, 'position'),
      };
    },
  } satisfies Partial<QueriesOf<AccessStore>>;
}

function mapKey(row: Row): ApiKey {
  return {
    sellerId: readId<SellerId>(row, 'seller_id'),
    id: readId<KeyId>(row, 'id'),
    name: readText(row, 'name'),
    ...readGranted(row),
    createdAt: readInteger(row, 'created_at'),
    revokedAt: readOptional(row, 'revoked_at', readInteger),
    lastUsedAt: readOptional(row, 'last_used_at', readInteger),
    lastUsedAddress: readOptional(row, 'last_used_address', readText),
  };
}

/** A key's permissions, allowed addresses and expiry. */
function readGranted(row: Row) {
  return {
    scopes: readText(row, 'scopes').split(' ').filter(isScope),
    addressRanges: readText(row, 'address_ranges').split(' ').filter(Boolean),
    expiresAt: readOptional(row, 'expires_at', readInteger),
  };
}
