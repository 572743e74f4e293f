/**
 * `seller reset-password` and `seller reset-totp`, for an owner who cannot sign in any more. Both
 * end every session of the account and are recorded in its activity.
 */
import { parseNewPassword } from '../../domain/access/account.ts';
import { formatSellerId, type SellerId } from '../../domain/id.ts';
import { Passwords } from '../../domain/access/password.ts';
import type { AccountStore } from '../../store/account-store.ts';
import { type Command, CommandFailure } from '../command.ts';
import { withStore } from '../with-store.ts';
import { readSecret } from './secret-input.ts';
import { readSellerId } from './seller.ts';

export const resetPassword: Command = {
  summary: 'Sets the password of an account, typed at the prompt or read from standard input.',
  operands: ['SELLER_ID'],
  async run({ operands, dataFolder, note }) {
    const sellerId = readSellerId(operands[0]);
    const email = await withStore(dataFolder, async (store) => {
      const account = await getAccount(store, sellerId);
      const words = [account.sellerName, account.email, account.email.split('@')[0] ?? ''];
      const password = await readSecret(process.stdin, 'New password', note);
      const parsed = parseNewPassword(password, words);
      if ('error' in parsed) throw new CommandFailure(`New password: ${parsed.error.detail}`);
      await store.resetPassword(sellerId, await new Passwords().hash(parsed.value));
      return account.email;
    });
    return {
      document: { id: formatSellerId(sellerId), email },
      text: `Changed the password of ${email} and ended all its sessions.`,
    };
  },
};

export const resetTotp: Command = {
  summary: 'Turns off two-factor authentication for an account and removes its recovery codes.',
  operands: ['SELLER_ID'],
  async run({ operands, dataFolder }) {
    const sellerId = readSellerId(operands[0]);
    const { email, isReset } = await withStore(dataFolder, async (store) => {
      const account = await getAccount(store, sellerId);
      return { email: account.email, isReset: await store.resetTotp(sellerId) };
    });
    const text = isReset
      ? `Turned off two-factor authentication of ${email} and ended all its sessions.`
      : `Two-factor authentication is already off for ${email}.`;
    return { document: { id: formatSellerId(sellerId), email, is_reset: isReset }, text };
  },
};

async function getAccount(store: AccountStore, sellerId: SellerId) {
  const account = await store.findAccount(sellerId);
  if (account) return account;
  throw new CommandFailure('There is no such seller, or it has no account. Create an account with'
    + ' "seller invite --seller".');
}
