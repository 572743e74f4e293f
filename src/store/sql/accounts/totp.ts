/** One-time passwords and recovery codes; secrets arrive encrypted, codes as hashes. */
import type { AccountReference } from '../../../domain/access/account.ts';
import type { Requester } from '../../../domain/access/audit.ts';
import { TOTP_STEPS_AHEAD } from '../../../domain/access/totp.ts';
import type { AccountStore, NewTotp } from '../../account-store.ts';
import type { AuditLog } from '../../rules/audit.ts';
import type { MutationsOf } from '../port-methods.ts';
import { prepareFind, readBytes, readInteger, readText, type Sql } from '../sql.ts';
import { prepareUpdateAccount } from './accounts.ts';

/** The port as its mutations see it: secrets are encrypted before. */
interface EncryptedTotpStore extends Omit<AccountStore, 'enableTotp'> {
  /** `sealed` is the encrypted secret, in base64. */
  enableTotp(
    account: AccountReference, totp: Omit<NewTotp, 'secret'> & { readonly sealed: string },
    by: Requester,
  ): Promise<void>;
}

export function totpMutations(sql: Sql, audit: AuditLog) {
  const enable = prepareUpdateAccount(sql, 'totp_secret = :secret, totp_step = :step');
  const disable = sql.prepare(`
    UPDATE account SET totp_secret = NULL
    WHERE seller_id = :sellerId AND id = :accountId AND totp_secret IS NOT NULL RETURNING email`);
  const takeStep = sql.prepare(`
    UPDATE account SET totp_step = :step WHERE seller_id = :sellerId AND id = :accountId
      AND (totp_step < :step OR totp_step > :latest)`);
  const takeCode = sql.prepare(`
    DELETE FROM recovery_code
    WHERE seller_id = :sellerId AND account_id = :accountId AND hash = :hash`);
  const endSessions = sql.prepare(`
    DELETE FROM session WHERE seller_id = :sellerId AND account_id = :accountId`);
  const replaceCodes = prepareReplaceCodes(sql);
  const findLeft = sql.prepare(`
    SELECT name, (SELECT count(*) FROM recovery_code
      WHERE seller_id = :sellerId AND account_id = :accountId) AS codes
    FROM account WHERE seller_id = :sellerId AND id = :accountId`);

  return {
    async enableTotp([{ sellerId, accountId }, { sealed, step, recoveryHashes }, by], at) {
      const secret = Buffer.from(sealed, 'base64');
      await enable.run({ secret, step, sellerId, accountId });
      await replaceCodes({ sellerId, accountId }, recoveryHashes);
      await audit.add({ ...by, sellerId, type: 'totp_enabled' }, at);
    },
    async disableTotp([{ sellerId, accountId }, by], at) {
      if (!await disable.get({ sellerId, accountId })) return;
      await replaceCodes({ sellerId, accountId }, []);
      await audit.add({ ...by, sellerId, type: 'totp_disabled' }, at);
    },
    async resetTotp([{ sellerId, accountId }], at) {
      const row = await disable.get({ sellerId, accountId });
      if (!row) return false;
      await replaceCodes({ sellerId, accountId }, []);
      await endSessions.run({ sellerId, accountId });
      const subject = readText(row, 'email');
      await audit.add({ sellerId, type: 'totp_reset', subject }, at);
      return true;
    },
    async setRecoveryCodes([account, hashes, by], at) {
      await replaceCodes(account, hashes);
      await audit.add({ ...by, sellerId: account.sellerId, type: 'recovery_codes_made' }, at);
    },
    takeTotpStep: async ([{ sellerId, accountId }, step]) => await takeStep.run({
      sellerId, accountId, step, latest: step + TOTP_STEPS_AHEAD,
    }) === 1,
    async takeRecoveryCode([{ sellerId, accountId }, hash, address], at) {
      if (await takeCode.run({ sellerId, accountId, hash }) === 0) return false;
      const row = await findLeft.get({ sellerId, accountId }) ?? {};
      const subject = `${readInteger(row, 'codes')} left`;
      const actorName = readText(row, 'name');
      await audit.add({ sellerId, type: 'recovery_code_used', actorName, address, subject }, at);
      return true;
    },
  } satisfies Partial<MutationsOf<EncryptedTotpStore>>;
}

function prepareReplaceCodes(sql: Sql) {
  const remove = sql.prepare(`
    DELETE FROM recovery_code WHERE seller_id = :sellerId AND account_id = :accountId`);
  const add = sql.prepare(`
    INSERT INTO recovery_code (seller_id, account_id, hash)
    VALUES (:sellerId, :accountId, :hash)`);
  return async (
    { sellerId, accountId }: AccountReference, hashes: readonly string[],
  ): Promise<void> => {
    await remove.run({ sellerId, accountId });
    for (const hash of hashes) await add.run({ sellerId, accountId, hash });
  };
}

export function totpQueries(sql: Sql) {
  const find = prepareFind(sql, (row) => ({
    sealed: readBytes(row, 'totp_secret'),
    step: readInteger(row, 'totp_step'),
    recoveryCodes: readInteger(row, 'codes'),
  }), `
    SELECT totp_secret, totp_step, (SELECT count(*) FROM recovery_code
      WHERE seller_id = :sellerId AND account_id = :accountId) AS codes
    FROM account WHERE seller_id = :sellerId AND id = :accountId AND totp_secret IS NOT NULL`);
  return {
    findEncryptedTotp: ({ sellerId, accountId }: AccountReference) => find({ sellerId, accountId }),
  };
}
