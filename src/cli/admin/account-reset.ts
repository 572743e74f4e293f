/**
 * `seller reset-password` and `seller reset-totp`: for an owner who cannot sign in any more. Both
 * end every session of the account, and are noted in its activity.
 */
import { parseNewPassword } from '../../domain/access/account.ts';
import { formatSellerId, type SellerId } from '../../domain/id.ts';
import { Passwords } from '../../features/portal/sign-in/password.ts';
import type { Store } from '../../store/store.ts';
import { type Command, CommandFailure } from '../command.ts';
import { readSecret } from './secret-input.ts';
import { readSellerId } from './seller.ts';
import { withStore } from '../with-store.ts';

export const resetPassword: Command = {
  summary: 'Sets a new password of an account, which it asks for or reads from standard input.',
  operands: ['SELLER_ID'],
  flags: {},
  async run({ operands, isJson, dataFolder, out, note }) {
    const sellerId = readSellerId(operands[0]);
    const email = await withStore(dataFolder, async (store) => {
      const account = await getAccount(store, sellerId);
      const words = [account.sellerName, account.email, account.email.split('@')[0] ?? ''];
      const password = await readSecret(process.stdin, 'The new password', note);
      const parsed = parseNewPassword(password, words);
      if ('error' in parsed) throw new CommandFailure(`The new password: ${parsed.error.detail}`);
      await store.resetPassword(sellerId, await new Passwords().hash(parsed.value));
      return account.email;
    });
    if (isJson) out(JSON.stringify({ id: formatSellerId(sellerId), email }));
    else out(`The password of ${email} is set, and all its sessions are ended.`);
  },
};

export const resetTotp: Command = {
  summary: 'Removes the one-time codes, and the recovery codes, from the account of a seller.',
  operands: ['SELLER_ID'],
  flags: {},
  async run({ operands, isJson, dataFolder, out }) {
    const sellerId = readSellerId(operands[0]);
    const { email, isReset } = await withStore(dataFolder, async (store) => {
      const account = await getAccount(store, sellerId);
      return { email: account.email, isReset: await store.resetTotp(sellerId) };
    });
    if (isJson) out(JSON.stringify({ id: formatSellerId(sellerId), email, is_reset: isReset }));
    else if (!isReset) out(`${email} signs in without one-time codes already.`);
    else out(`${email} signs in without one-time codes now, and all its sessions are ended.`);
  },
};

async function getAccount(store: Store, sellerId: SellerId) {
  const account = await store.findAccount(sellerId);
  if (account) return account;
  const hint = 'Make one with "seller invite --seller".';
  throw new CommandFailure(`There is no such seller, or no account of theirs. ${hint}`);
}
