/** One-time passwords and recovery codes in SQLite; secrets arrive encrypted, codes as hashes. */
import type { DatabaseSync } from 'node:sqlite';
import type { SellerId } from '../../../domain/id.ts';
import { TOTP_STEPS_AHEAD } from '../../../domain/access/totp.ts';
import type { AccountStore, NewTotp } from '../../account-store.ts';
import type { AuditLog } from './audit.ts';
import type { MutationsOf } from '../engine/port-methods.ts';
import { readBytes, readInteger } from '../engine/row.ts';

/** The port from the writer thread's side. */
interface EncryptedTotpStore extends Omit<AccountStore, 'enableTotp'> {
  /** `sealed` is the encrypted secret, in base64. */
  enableTotp(
    sellerId: SellerId, totp: Omit<NewTotp, 'secret'> & { readonly sealed: string },
    address: string,
  ): Promise<void>;
}

export function totpMutations(db: DatabaseSync, audit: AuditLog) {
  const enable = db.prepare(`
    UPDATE account SET totp_secret = ?, totp_step = ? WHERE seller_id = ?`);
  const disable = db.prepare(`
    UPDATE account SET totp_secret = NULL WHERE seller_id = ? AND totp_secret IS NOT NULL`);
  const takeStep = db.prepare(`
    UPDATE account SET totp_step = :step WHERE seller_id = :sellerId
      AND (totp_step < :step OR totp_step > :step + ${TOTP_STEPS_AHEAD})`);
  const addCode = db.prepare('INSERT INTO recovery_code (seller_id, hash) VALUES (?, ?)');
  const takeCode = db.prepare('DELETE FROM recovery_code WHERE seller_id = ? AND hash = ?');
  const endSessions = db.prepare('DELETE FROM session WHERE seller_id = ?');
  const removeCodes = db.prepare('DELETE FROM recovery_code WHERE seller_id = ?');
  const countCodes = db.prepare('SELECT count(*) AS codes FROM recovery_code WHERE seller_id = ?');

  function replaceCodes(sellerId: SellerId, hashes: readonly string[]): void {
    removeCodes.run(sellerId);
    for (const hash of hashes) addCode.run(sellerId, hash);
  }

  return {
    enableTotp([sellerId, { sealed, step, recoveryHashes }, address], at) {
      enable.run(Buffer.from(sealed, 'base64'), step, sellerId);
      replaceCodes(sellerId, recoveryHashes);
      audit.add({ sellerId, type: 'totp_enabled', address }, at);
    },
    disableTotp([sellerId, address], at) {
      if (disable.run(sellerId).changes === 0) return;
      removeCodes.run(sellerId);
      audit.add({ sellerId, type: 'totp_disabled', address }, at);
    },
    resetTotp([sellerId], at) {
      if (disable.run(sellerId).changes === 0) return false;
      removeCodes.run(sellerId);
      endSessions.run(sellerId);
      audit.add({ sellerId, type: 'totp_reset' }, at);
      return true;
    },
    setRecoveryCodes([sellerId, hashes, address], at) {
      replaceCodes(sellerId, hashes);
      audit.add({ sellerId, type: 'recovery_codes_made', address }, at);
    },
    takeTotpStep: ([sellerId, step]) => takeStep.run({ sellerId, step }).changes === 1,
    takeRecoveryCode([sellerId, hash, address], at) {
      if (takeCode.run(sellerId, hash).changes === 0) return false;
      const subject = `${readInteger(countCodes.get(sellerId) ?? {}, 'codes')} left`;
      audit.add({ sellerId, type: 'recovery_code_used', address, subject }, at);
      return true;
    },
  } satisfies Partial<MutationsOf<EncryptedTotpStore>>;
}

export function totpQueries(db: DatabaseSync) {
  const find = db.prepare(`
    SELECT totp_secret, totp_step,
      (SELECT count(*) FROM recovery_code AS c WHERE c.seller_id = a.seller_id) AS codes
    FROM account AS a WHERE seller_id = ? AND totp_secret IS NOT NULL`);
  return {
    findEncryptedTotp(sellerId: SellerId) {
      const row = find.get(sellerId);
      return row && {
        sealed: readBytes(row, 'totp_secret'),
        step: readInteger(row, 'totp_step'),
        recoveryCodes: readInteger(row, 'codes'),
      };
    },
  };
}
