/**
 * For someone who cannot sign in to the portal: `seller reset-password` and `seller reset-totp`,
 * which end all sessions and appear in the activity log.
 */
import { type Account, parseEmail } from '../../domain/access/account.ts';
import { parseNewPassword } from '../../domain/access/new-password.ts';
import { Passwords } from '../../domain/access/password.ts';
import { formatSellerId, type SellerId } from '../../domain/id.ts';
import type { AccountStore } from '../../store/account-store.ts';
import { type Command, CommandFailure, UsageError } from '../command.ts';
import { withStore } from '../with-store.ts';
import { readSecret } from './secret-input.ts';
import { getSeller } from './seller.ts';

const PASSWORD_LABELS = ['New password', 'New password again'];

export const resetPassword: Command = {
  summary: 'Sets the password of an account, typed at the prompt or read from standard input.',
  operands: ['SELLER_ID', '[EMAIL]'],
  async run({ operands: [id, typedEmail], location, io, note }) {
    const { sellerId, email } = await withStore(location, async (store) => {
      const account = await getAccount(store, (await getSeller(store, id)).id, typedEmail);
      const words = [account.sellerName, account.email, account.email.split('@')[0] ?? ''];
      const password = await readSecret(io.stdin, PASSWORD_LABELS, note);
      const parsed = parseNewPassword(password, words);
      if ('error' in parsed) throw new CommandFailure(`New password: ${parsed.error.detail}`);
      await store.resetPassword(account, await new Passwords().hash(parsed.value));
      return account;
    });
    return {
      document: { id: formatSellerId(sellerId), email },
      text: `Changed the password of ${email} and ended all its sessions.`,
    };
  },
};

export const resetTotp: Command = {
  summary: 'Turns off two-factor authentication for an account and removes its recovery codes.',
  operands: ['SELLER_ID', '[EMAIL]'],
  async run({ operands: [id, typedEmail], location }) {
    const { sellerId, email, isReset } = await withStore(location, async (store) => {
      const account = await getAccount(store, (await getSeller(store, id)).id, typedEmail);
      return { ...account, isReset: await store.resetTotp(account) };
    });
    const text = isReset
      ? `Turned off two-factor authentication of ${email} and ended all its sessions.`
      : `Two-factor authentication is already off for ${email}.`;
    return { document: { id: formatSellerId(sellerId), email, is_reset: isReset }, text };
  },
};

/**
 * An account of a seller by its e-mail address, which may be missing if there is only one.
 * @throws CommandFailure, UsageError
 */
export async function getAccount(
  store: AccountStore, sellerId: SellerId, email?: string,
): Promise<Account> {
  const parsed = parseEmail(email ?? 'none@shop.example');
  // Not repeated in the message: it may be a password that was given as an argument.
  if ('error' in parsed) throw new UsageError('EMAIL is not an e-mail address.');
  const accounts = await store.listAccounts(sellerId);
  const [first, second] = accounts;
  if (!first) {
    throw new CommandFailure('This seller has no account. Create an account with'
      + ' "seller invite --seller".');
  }
  const emails = accounts.map((account) => account.email).join(', ');
  if (email === undefined && second) {
    const hint = `Name one by its e-mail address: ${emails}.`;
    throw new CommandFailure(`This seller has several accounts. ${hint}`);
  }
  const account = email === undefined ? first
    : accounts.find((candidate) => candidate.email === parsed.value);
  if (account) return account;
  throw new CommandFailure(`This seller has no account with this e-mail. It has: ${emails}.`);
}
