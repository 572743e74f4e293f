/**
 * Passkeys, and whether an account's password may sign in. A password is turned off only while a
 * passkey remains, also if two requests come at the same time: each mutation locks its seller.
 */
import type { AccountReference } from '../../../domain/access/account.ts';
import { type Passkey, readTransports } from '../../../domain/access/passkey.ts';
import { AppError } from '../../../domain/error.ts';
import { nextId } from '../../../domain/id.ts';
import { PASSKEYS_PER_ACCOUNT_LIMIT } from '../../../domain/limits.ts';
import type { PasskeyStore, PasskeyUse } from '../../account-store.ts';
import type { AuditLog } from '../../rules/audit.ts';
import type { MutationsOf, QueriesOf } from '../port-methods.ts';
import {
  prepareList, readBytes, readInteger, readOptional, readText, type Row, type Sql,
} from '../sql.ts';
import { prepareUpdateAccount } from './accounts.ts';
import { prepareInsertSession } from './sessions.ts';

const OWN = 'seller_id = :sellerId AND account_id = :accountId';
const COLUMNS = `id, credential_id, public_key, rp_id, sign_count, name, transports, created_at,
  last_used_at`;

export function passkeyMutations(sql: Sql, audit: AuditLog) {
  const list = prepareListPasskeys(sql);
  const findCredential = sql.prepare(`
    SELECT id FROM passkey WHERE seller_id = :sellerId AND credential_id = :credentialId`);
  const insert = sql.prepare(`
    INSERT INTO passkey (seller_id, account_id, id, credential_id, public_key, rp_id, sign_count,
      name, transports, created_at)
    VALUES (:sellerId, :accountId, :id, :credentialId, :publicKey, :rpId, :signCount, :name,
      :transports, :at)`);
  const rename = sql.prepare(`UPDATE passkey SET name = :name WHERE ${OWN} AND id = :id`);
  const remove = sql.prepare(`DELETE FROM passkey WHERE ${OWN} AND id = :id`);
  const getAccount = prepareGetAccount(sql);

  return {
    async addPasskey([{ sellerId, accountId }, passkey, by], at) {
      await getAccount({ sellerId, accountId });
      const passkeys = await list({ sellerId, accountId });
      if (passkeys.length >= PASSKEYS_PER_ACCOUNT_LIMIT) {
        throw new AppError('limit_reached', 'Nothing was added: your account has '
          + `${PASSKEYS_PER_ACCOUNT_LIMIT} passkeys, which is the limit. Remove one first.`);
      }
      const credentialId = Buffer.from(passkey.credentialId, 'base64url');
      if (await findCredential.get({ sellerId, credentialId })) return false;
      const { rpId, signCount, name, transports } = passkey;
      const id = nextId(passkeys.at(-1)?.id ?? 0, at);
      await insert.run({
        sellerId, accountId, id, credentialId, rpId, signCount, name, at,
        publicKey: Buffer.from(passkey.publicKey, 'base64url'), transports: transports.join(' '),
      });
      await audit.add({ ...by, sellerId, type: 'passkey_added', subject: name }, at);
      return true;
    },
    async renamePasskey([{ sellerId, accountId }, id, name]) {
      if (await rename.run({ sellerId, accountId, id, name }) === 1) return;
      throw new AppError('not_found', 'There is no such passkey.');
    },
    async removePasskey([{ sellerId, accountId }, id, by], at) {
      const passkeys = await list({ sellerId, accountId });
      const passkey = passkeys.find((candidate) => candidate.id === id);
      if (!passkey) throw new AppError('not_found', 'There is no such passkey.');
      const { isPasswordOff } = await getAccount({ sellerId, accountId });
      if (isPasswordOff && passkeys.length === 1) {
        throw new AppError('limit_reached', 'This is your only passkey, and you cannot sign in with'
          + ' your password. Add another passkey or turn on the password first.');
      }
      await remove.run({ sellerId, accountId, id });
      await audit.add({ ...by, sellerId, type: 'passkey_removed', subject: passkey.name }, at);
    },
  } satisfies Partial<MutationsOf<PasskeyStore>>;
}

export function passkeySignInMutations(sql: Sql, audit: AuditLog, lived: () => number) {
  const list = prepareListPasskeys(sql);
  const getAccount = prepareGetAccount(sql);
  const setPasswordOff = prepareUpdateAccount(sql, 'is_password_off = :isOff');
  const findSigningIn = sql.prepare(`
    SELECT a.name FROM account AS a JOIN seller AS s ON s.id = a.seller_id
    WHERE a.seller_id = :sellerId AND a.id = :accountId AND s.disabled_at IS NULL`);
  const noteUse = prepareNoteUse(sql);
  const addSession = prepareInsertSession(sql, lived);

  return {
    async setPasswordOff([{ sellerId, accountId }, isOff, by], at) {
      if ((await getAccount({ sellerId, accountId })).isPasswordOff === isOff) return;
      if (isOff && (await list({ sellerId, accountId })).length === 0) {
        throw new AppError('limit_reached', 'You have no passkey to sign in with. Add one first.');
      }
      await setPasswordOff.run({ sellerId, accountId, isOff: isOff ? 1 : 0 });
      const type = isOff ? 'password_sign_in_disabled' : 'password_sign_in_enabled';
      await audit.add({ ...by, sellerId, type }, at);
    },
    notePasskeyUse: ([account, use], at) => noteUse(account, use, at),
    async createPasskeySession([{ sellerId, accountId }, use, session], at) {
      const row = await findSigningIn.get({ sellerId, accountId });
      if (!row || !await noteUse({ sellerId, accountId }, use, at)) return false;
      await addSession({ sellerId, accountId }, session, at);
      const { address, userAgent } = session;
      const by = { actorName: readText(row, 'name'), address };
      const subject = `${use.name} · ${userAgent}`;
      await audit.add({ ...by, sellerId, type: 'signed_in_with_passkey', subject }, at);
      return true;
    },
  } satisfies Partial<MutationsOf<PasskeyStore>>;
}

export function passkeyQueries(sql: Sql) {
  return { listPasskeys: prepareListPasskeys(sql) } satisfies Partial<QueriesOf<PasskeyStore>>;
}

function prepareListPasskeys(sql: Sql) {
  const list = prepareList(sql, mapPasskey, `
    SELECT ${COLUMNS} FROM passkey WHERE ${OWN} ORDER BY id LIMIT ${PASSKEYS_PER_ACCOUNT_LIMIT}`);
  return ({ sellerId, accountId }: AccountReference) => list({ sellerId, accountId });
}

/** @throws AppError `not_found` */
function prepareGetAccount(sql: Sql) {
  const find = sql.prepare(`
    SELECT is_password_off FROM account WHERE seller_id = :sellerId AND id = :accountId`);
  return async ({ sellerId, accountId }: AccountReference) => {
    const row = await find.get({ sellerId, accountId });
    if (row) return { isPasswordOff: readInteger(row, 'is_password_off') === 1 };
    throw new AppError('not_found', 'There is no such account.');
  };
}

/** Stores the counter, which must increase unless it and the last one are 0 (section 6.1.1). */
function prepareNoteUse(sql: Sql) {
  const note = sql.prepare(`
    UPDATE passkey SET sign_count = :signCount, last_used_at = :at
    WHERE ${OWN} AND id = :id AND public_key = :publicKey
      AND (sign_count < :signCount OR (sign_count = 0 AND CAST(:signCount AS bigint) = 0))`);
  return async (
    { sellerId, accountId }: AccountReference,
    { id, publicKey, signCount }: PasskeyUse, at: number,
  ): Promise<boolean> => {
    const key = Buffer.from(publicKey, 'base64url');
    return await note.run({ sellerId, accountId, id, publicKey: key, signCount, at }) === 1;
  };
}

function mapPasskey(row: Row): Passkey {
  const encode = (column: string): string =>
    Buffer.from(readBytes(row, column)).toString('base64url');
  return {
    id: readInteger(row, 'id'),
    credentialId: encode('credential_id'),
    publicKey: encode('public_key'),
    rpId: readText(row, 'rp_id'),
    signCount: readInteger(row, 'sign_count'),
    name: readText(row, 'name'),
    transports: readTransports(readText(row, 'transports')),
    createdAt: readInteger(row, 'created_at'),
    lastUsedAt: readOptional(row, 'last_used_at', readInteger),
  };
}
