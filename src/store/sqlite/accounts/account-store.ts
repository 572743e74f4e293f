/**
 * The methods of the account port that need the server's key. This thread encrypts and decrypts
 * secrets; the writer thread gets only encrypted ones.
 */
import { formatSellerId, type SellerId } from '../../../domain/id.ts';
import type { TotpSecret } from '../../../domain/access/totp.ts';
import type { AccountStore } from '../../account-store.ts';
import type { Reader } from '../engine/reader.ts';
import type { ServerKey } from '../../rules/server-key.ts';
import type { Writer } from '../engine/writer.ts';

type SecretMethods = Pick<AccountStore, 'findTotp' | 'enableTotp' | 'encrypt' | 'decrypt'>;

export function secretMethods(key: ServerKey, reader: Reader, writer: Writer): SecretMethods {
  return {
    async findTotp(sellerId) {
      const found = reader.snapshot().findEncryptedTotp(sellerId);
      if (!found) return undefined;
      const { sealed, ...totp } = found;
      // The cast: only secrets are encrypted in this context.
      const secret = key.decrypt(sealed, contextOfTotp(sellerId)) as TotpSecret | undefined;
      return { secret, ...totp };
    },
    async enableTotp(sellerId, { secret, ...totp }, address) {
      const sealed = key.encrypt(secret, contextOfTotp(sellerId)).toString('base64');
      await writer.run('enableTotp', [sellerId, { sealed, ...totp }, address]);
    },
    encrypt: async (text, context) => key.encrypt(text, `portal ${context}`).toString('base64url'),
    decrypt: async (sealed, context) =>
      key.decrypt(Buffer.from(sealed, 'base64url'), `portal ${context}`),
  };
}

/** The context that an account's secret is bound to (AEAD). Persisted: do not change it. */
export function contextOfTotp(sellerId: SellerId): string {
  return `totp secret ${formatSellerId(sellerId)}`;
}
