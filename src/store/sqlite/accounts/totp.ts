/**
 * One-time passwords and recovery codes in SQLite. Secrets arrive here encrypted, and codes as
 * hashes.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { SellerId } from '../../../domain/id.ts';
import { TOTP_STEPS_AHEAD } from '../../../domain/access/totp.ts';
import type { AuditLog } from './audit.ts';
import { readBytes, readInteger } from '../engine/row.ts';

interface Request {
  readonly sellerId: SellerId;
  readonly address: string;
}

interface EncryptedTotp extends Request {
  /** In base64. */
  readonly sealed: string;
  readonly step: number;
  readonly recoveryHashes: readonly string[];
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
    enableTotp(
      { sellerId, sealed, step, recoveryHashes, address }: EncryptedTotp, at: number,
    ): void {
      enable.run(Buffer.from(sealed, 'base64'), step, sellerId);
      replaceCodes(sellerId, recoveryHashes);
      audit.add({ sellerId, type: 'totp_enabled', address, subject: '' }, at);
    },
    disableTotp({ sellerId, address }: Request, at: number): void {
      if (disable.run(sellerId).changes === 0) return;
      replaceCodes(sellerId, []);
      audit.add({ sellerId, type: 'totp_disabled', address, subject: '' }, at);
    },
    resetTotp({ sellerId }: { readonly sellerId: SellerId }, at: number): boolean {
      if (disable.run(sellerId).changes === 0) return false;
      removeCodes.run(sellerId);
      endSessions.run(sellerId);
      audit.add({ sellerId, type: 'totp_reset', address: '', subject: '' }, at);
      return true;
    },
    setRecoveryCodes(
      { sellerId, hashes, address }: Request & { readonly hashes: readonly string[] }, at: number,
    ): void {
      replaceCodes(sellerId, hashes);
      audit.add({ sellerId, type: 'recovery_codes_made', address, subject: '' }, at);
    },
    takeTotpStep({ sellerId, step }: { sellerId: SellerId; step: number }): boolean {
      return takeStep.run({ sellerId, step }).changes === 1;
    },
    takeRecoveryCode(
      { sellerId, hash, address }: Request & { readonly hash: string }, at: number,
    ): boolean {
      if (takeCode.run(sellerId, hash).changes === 0) return false;
      const left = readInteger(countCodes.get(sellerId) ?? {}, 'codes');
      const subject = `${left} left`;
      audit.add({ sellerId, type: 'recovery_code_used', address, subject }, at);
      return true;
    },
  };
}

export function totpQueries(db: DatabaseSync) {
  const find = db.prepare(`
    SELECT totp_secret, totp_step,
      (SELECT count(*) FROM recovery_code AS c WHERE c.seller_id = a.seller_id) AS codes
    FROM account AS a WHERE seller_id = ? AND totp_secret IS NOT NULL`);
  return {
    findTotp(sellerId: SellerId) {
      const row = find.get(sellerId);
      return row && {
        sealed: readBytes(row, 'totp_secret'),
        step: readInteger(row, 'totp_step'),
        recoveryCodes: readInteger(row, 'codes'),
      };
    },
  };
}
