/** Creates, rotates and revokes API keys: their hashes, and their last four characters. */
import type { ApiKey, NewApiKey, StoredSecret } from '../../../domain/access/api-key.ts';
import type { AuditType, Requester } from '../../../domain/access/audit.ts';
import { AppError } from '../../../domain/error.ts';
import { formatKeyId, type KeyReference, nextId, type SellerId } from '../../../domain/id.ts';
import { LIVE_KEYS_PER_SELLER_LIMIT } from '../../../domain/limits.ts';
import { termFrom } from '../../../runtime/clock.ts';
import type { AccessStore } from '../../access-store.ts';
import type { AuditLog } from '../../rules/audit.ts';
import type { MutationsOf } from '../port-methods.ts';
import { readInteger, readOptional, type Sql } from '../sql.ts';
import { KEY_COLUMNS, mapKey } from './key-queries.ts';
import { prepareAssertOwner } from './owner-check.ts';

const LIVE = `revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :at)
  AND (lived_until IS NULL OR lived_until > :lived)`;

/** Lets a key end after the overlap of its rotation, or as before if that is earlier. */
const REPLACE = `
  UPDATE api_key
  SET expires_at = CASE WHEN expires_at < :endsAt THEN expires_at ELSE :endsAt END,
    lived_until = CASE WHEN lived_until < :livedUntil THEN lived_until ELSE :livedUntil END,
    successor_id = :successorId
  WHERE seller_id = :sellerId AND id = :keyId`;

/** The names of the members are hashed, except `actor` (rules/idempotency.ts). */
interface Creation {
  readonly actor: Omit<Requester, 'address'>;
  readonly sellerId: SellerId;
  readonly secret: StoredSecret;
  readonly key: NewApiKey;
  readonly address: string;
}

interface Rotation extends Pick<Creation, 'actor' | 'secret' | 'address'> {
  readonly key: KeyReference;
  readonly overlapMs: number;
}

/** Called in the transaction that creates a key. */
export type NoteKey = (hash: string, sellerId: SellerId) => Promise<void>;

export type KeyMutations = ReturnType<typeof keyMutations>;

export function keyMutations(sql: Sql, audit: AuditLog, lived: () => number, noteKey?: NoteKey) {
  const assertOwner = prepareAssertOwner(sql);
  const addKey = prepareAddKey(sql, lived, noteKey);
  const findLive = sql.prepare(`
    SELECT ${KEY_COLUMNS}, life_ms FROM api_key
    WHERE seller_id = :sellerId AND id = :keyId AND ${LIVE}`);
  const replace = sql.prepare(REPLACE);
  const revoke = sql.prepare(`
    UPDATE api_key SET revoked_at = coalesce(revoked_at, :at)
    WHERE seller_id = :sellerId AND id = :keyId RETURNING ${KEY_COLUMNS}`);
  const noteUse = sql.prepare(`
    UPDATE api_key SET last_used_at = :at, last_used_address = :address
    WHERE seller_id = :sellerId AND id = :keyId`);

  async function note(
    type: AuditType, { sellerId, id, name }: ApiKey, by: Requester, at: number,
  ): Promise<void> {
    const subject = `${formatKeyId({ sellerId, keyId: id })} ${name}`;
    await audit.add({ ...by, sellerId, type, subject }, at);
  }

  return {
    async createKey(input: Creation, at: number): Promise<ApiKey> {
      const key = await addKey(input, at);
      const { actor, address } = input;
      await note('key_created', key, { ...actor, address }, at);
      return key;
    },
    async rotateKey(input: Rotation, at: number): Promise<ApiKey> {
      const { key: { sellerId, keyId }, secret, overlapMs, address, actor } = input;
      const row = await findLive.get({ sellerId, keyId, at, lived: lived() });
      if (!row) throw new AppError('not_found', 'There is no such key that can still be used.');
      const lifeMs = readOptional(row, 'life_ms', readInteger);
      const expiresAt = lifeMs === undefined ? undefined : at + lifeMs;
      const old = mapKey(row);
      const renewed = { ...old, expiresAt };
      const successor = await addKey({ sellerId, secret, key: renewed, actor }, at);
      const term = termFrom({ wall: at, lived: lived() }, overlapMs);
      await replace.run({ sellerId, keyId, ...term, successorId: successor.id });
      await note('key_rotated', old, { ...actor, address }, at);
      return successor;
    },
    ...{
      async revokeKey([{ sellerId, keyId }, by], at) {
        await assertOwner(sellerId, by);
        const row = await revoke.get({ at, sellerId, keyId });
        if (!row) throw new AppError('not_found', 'There is no such key.');
        const revoked = mapKey(row);
        if (revoked.revokedAt === at) await note('key_revoked', revoked, by ?? {}, at);
        return revoked;
      },
      async noteKeyUse([{ sellerId, keyId }, address], at) {
        await noteUse.run({ at, address, sellerId, keyId });
      },
    } satisfies Partial<MutationsOf<AccessStore>>,
  };
}

function prepareAddKey(sql: Sql, lived: () => number, noteKey: NoteKey | undefined) {
  const assertOwner = prepareAssertOwner(sql);
  const findSeller = sql.prepare(`
    SELECT (SELECT count(*) FROM api_key WHERE seller_id = :sellerId AND ${LIVE}) AS live,
      (SELECT coalesce(max(id), 0) FROM api_key WHERE seller_id = :sellerId) AS last_id
    FROM seller WHERE id = :sellerId`);
  const insert = sql.prepare(`
    INSERT INTO api_key
      (seller_id, id, hash, name, scopes, address_ranges, created_at, life_ms, expires_at,
        lived_until, rate_limit_per_minute, last_four, created_by)
    VALUES (:sellerId, :id, :hash, :name, :scopes, :ranges, :at, :lifeMs, :expiresAt, :livedUntil,
      :rateLimitPerMinute, :lastFour, :createdBy)
    RETURNING ${KEY_COLUMNS}`);

  return async (
    { sellerId, secret, key, actor }: Omit<Creation, 'address'>, at: number,
  ): Promise<ApiKey> => {
    await assertOwner(sellerId, actor);
    await noteKey?.(secret.hash, sellerId);
    const seller = await findSeller.get({ sellerId, at, lived: lived() });
    if (!seller) throw new AppError('not_found', 'There is no such seller.');
    if (readInteger(seller, 'live') >= LIVE_KEYS_PER_SELLER_LIMIT) {
      const limit = `${LIVE_KEYS_PER_SELLER_LIMIT} keys that can be used`;
      throw new AppError('limit_reached', `The seller has ${limit}. Revoke one first.`);
    }
    const { name, scopes, addressRanges, expiresAt, rateLimitPerMinute } = key;
    const now = { wall: at, lived: lived() };
    return mapKey(await insert.get({
      sellerId, id: nextId(readInteger(seller, 'last_id'), at), ...secret, at, name, expiresAt,
      rateLimitPerMinute, createdBy: actor.actorName,
      // The key crossed threads as JSON, which has null for undefined.
      lifeMs: expiresAt == null ? undefined : Math.max(expiresAt - at, 0),
      livedUntil: expiresAt == null ? undefined : termFrom(now, expiresAt - at).livedUntil,
      scopes: scopes.join(' '), ranges: addressRanges.join(' '),
    }) ?? {});
  };
}
