/** What the operator does for the owner of an account who cannot sign in any more. */
import type { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../../domain/error.ts';
import type { SellerId } from '../../../domain/id.ts';
import type { AuditLog } from './audit.ts';

export function accountResetMutations(db: DatabaseSync, audit: AuditLog) {
  const setPassword = db.prepare('UPDATE account SET password = ? WHERE seller_id = ?');
  const removeTotp = db.prepare(`
    UPDATE account SET totp_secret = NULL WHERE seller_id = ? AND totp_secret IS NOT NULL`);
  const removeCodes = db.prepare('DELETE FROM recovery_code WHERE seller_id = ?');
  const endSessions = db.prepare('DELETE FROM session WHERE seller_id = ?');
  return {
    resetPassword(
      { sellerId, passwordHash }: { sellerId: SellerId; passwordHash: string }, at: number,
    ): void {
      if (setPassword.run(passwordHash, sellerId).changes === 0) {
        throw new AppError('not_found', 'There is no such account.');
      }
      endSessions.run(sellerId);
      audit.add({ sellerId, type: 'password_reset', address: '', subject: '' }, at);
    },
    resetTotp({ sellerId }: { readonly sellerId: SellerId }, at: number): boolean {
      if (removeTotp.run(sellerId).changes === 0) return false;
      removeCodes.run(sellerId);
      endSessions.run(sellerId);
      audit.add({ sellerId, type: 'totp_reset', address: '', subject: '' }, at);
      return true;
    },
  };
}
