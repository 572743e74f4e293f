/** One-time passwords and recovery codes; secrets arrive encrypted, codes as hashes. */
import type { SellerId } from '../../../domain/id.ts';
import { TOTP_STEPS_AHEAD } from '../../../domain/access/totp.ts';
import type { AccountStore, NewTotp } from '../../account-store.ts';
import type { AuditLog } from '../../rules/audit.ts';
import type { MutationsOf } from '../port-methods.ts';
import { readBytes, readInteger } from '../row.ts';
import type { Sql } from '../sql.ts';

/** The port as its mutations see it: secrets are encrypted before. */
interface EncryptedTotpStore extends Omit<AccountStore, 'enableTotp'> {
  /** `sealed` is the encrypted secret, in base64. */
  enableTotp(
    sellerId: SellerId, totp: Omit<NewTotp, 'secret'> & { readonly sealed: string },
    address: string,
  ): Promise<void>;
}

export function totpMutations(sql: Sql, audit: AuditLog) {
  const enable = sql.prepare(`
    UPDATE account SET totp_secret = :secret, totp_step = :step WHERE seller_id = :sellerId`);
  const disable = sql.prepare(`
    UPDATE account SET totp_secret = NULL
    WHERE seller_id = :sellerId AND totp_secret IS NOT NULL`);
  const takeStep = sql.prepare(`
    UPDATE account SET totp_step = :step WHERE seller_id = :sellerId
      AND (totp_step < :step OR totp_step > :latest)`);
  const addCode = sql.prepare(`
    INSERT INTO recovery_code (seller_id, hash) VALUES (:sellerId, :hash)`);
  const takeCode = sql.prepare(`
    DELETE FROM recovery_code WHERE seller_id = :sellerId AND hash = :hash`);
  const endSessions = sql.prepare('DELETE FROM session WHERE seller_id = :sellerId');
  const removeCodes = sql.prepare('DELETE FROM recovery_code WHERE seller_id = :sellerId');
  const countCodes = sql.prepare(`
    SELECT count(*) AS codes FROM recovery_code WHERE seller_id = :sellerId`);

  async function replaceCodes(sellerId: SellerId, hashes: readonly string[]): Promise<void> {
    await removeCodes.run({ sellerId });
    for (const hash of hashes) await addCode.run({ sellerId, hash });
  }

  return {
    async enableTotp([sellerId, { sealed, step, recoveryHashes }, address], at) {
      await enable.run({ secret: Buffer.from(sealed, 'base64'), step, sellerId });
      await replaceCodes(sellerId, recoveryHashes);
      await audit.add({ sellerId, type: 'totp_enabled', address }, at);
    },
    async disableTotp([sellerId, address], at) {
      if (await disable.run({ sellerId }) === 0) return;
      await removeCodes.run({ sellerId });
      await audit.add({ sellerId, type: 'totp_disabled', address }, at);
    },
    async resetTotp([sellerId], at) {
      if (await disable.run({ sellerId }) === 0) return false;
      await removeCodes.run({ sellerId });
      await endSessions.run({ sellerId });
      await audit.add({ sellerId, type: 'totp_reset' }, at);
      return true;
    },
    async setRecoveryCodes([sellerId, hashes, address], at) {
      await replaceCodes(sellerId, hashes);
      await audit.add({ sellerId, type: 'recovery_codes_made', address }, at);
    },
    takeTotpStep: async ([sellerId, step]) =>
      await takeStep.run({ sellerId, step, latest: step + TOTP_STEPS_AHEAD }) === 1,
    async takeRecoveryCode([sellerId, hash, address], at) {
      if (await takeCode.run({ sellerId, hash }) === 0) return false;
      const subject = `${readInteger(await countCodes.get({ sellerId }) ?? {}, 'codes')} left`;
      await audit.add({ sellerId, type: 'recovery_code_used', address, subject }, at);
      return true;
    },
  } satisfies Partial<MutationsOf<EncryptedTotpStore>>;
}

export function totpQueries(sql: Sql) {
  const find = sql.prepare(`
    SELECT totp_secret, totp_step,
      (SELECT count(*) FROM recovery_code WHERE seller_id = :sellerId) AS codes
    FROM account WHERE seller_id = :sellerId AND totp_secret IS NOT NULL`);
  return {
    async findEncryptedTotp(sellerId: SellerId) {
      const row = await find.get({ sellerId });
      return row && {
        sealed: readBytes(row, 'totp_secret'),
        step: readInteger(row, 'totp_step'),
        recoveryCodes: readInteger(row, 'codes'),
      };
    },
  };
}
