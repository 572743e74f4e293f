/**
 * The methods of the account port that need the server's key. Secrets are encrypted and decrypted
 * here, so mutations get only encrypted ones.
 */
import type { AccountReference } from '../../../domain/access/account.ts';
import { formatSellerId } from '../../../domain/id.ts';
import type { TotpSecret } from '../../../domain/access/totp.ts';
import type { AccountStore } from '../../account-store.ts';
import type { RunMutation } from '../../rules/mutations/registry.ts';
import type { ServerKey } from '../../rules/server-key.ts';
import type { totpQueries } from './totp.ts';

export function secretMethods(
  key: ServerKey, queries: ReturnType<typeof totpQueries>, run: RunMutation,
) {
  return {
    async findTotp(account) {
      const encryptedTotp = await queries.findEncryptedTotp(account);
      if (!encryptedTotp) return undefined;
      const { sealed, ...totp } = encryptedTotp;
      // The cast: only secrets are encrypted in this context.
      const secret = key.decrypt(sealed, contextOfTotp(account)) as TotpSecret | undefined;
      return { secret, ...totp };
    },
    async enableTotp(account, { secret, ...totp }, by) {
      const sealed = key.encrypt(secret, contextOfTotp(account)).toString('base64');
      await run('enableTotp', [account, { sealed, ...totp }, by]);
    },
    encrypt: async (text, context) => key.encrypt(text, `portal ${context}`).toString('base64url'),
    decrypt: async (sealed, context) =>
      key.decrypt(Buffer.from(sealed, 'base64url'), `portal ${context}`),
  } satisfies Partial<AccountStore>;
}

/**
 * The context that an account's secret is bound to (AEAD). Persisted: do not change it. A seller's
 * first account has the one from when a seller had one account.
 */
export function contextOfTotp({ sellerId, accountId }: AccountReference): string {
  const context = `totp secret ${formatSellerId(sellerId)}`;
  return accountId === 1 ? context : `${context} ${accountId}`;
}
