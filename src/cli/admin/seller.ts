/**
 * `seller create`, `list`, `disable` and `enable`; and, for someone who cannot sign in,
 * `reset-password` and `reset-totp`, which end all sessions and appear in the activity log.
 */
import { type Account, parseEmail, parseNewPassword } from '../../domain/access/account.ts';
import { formatSellerId, parseSellerId, type SellerId } from '../../domain/id.ts';
import { Passwords } from '../../domain/access/password.ts';
import {
  DEFAULT_CURRENCY, describeSeller, parseNewSeller, type Seller,
} from '../../domain/access/seller.ts';
import { listAll } from '../../embed/administration.ts';
import type { AccountStore } from '../../store/account-store.ts';
import {
  type Command, CommandFailure, type Input, type Result, UsageError,
} from '../command.ts';
import { listResult } from '../format.ts';
import { withNewStore, withStore } from '../with-store.ts';
import { readSecret } from './secret-input.ts';

const PASSWORD_LABELS = ['New password', 'New password again'];

export const createSeller: Command = {
  summary: 'Creates a seller, who owns one catalogue.',
  operands: ['NAME'],
  flags: {
    currency: { value: 'CODE', help: `ISO 4217 code of all prices (default: ${DEFAULT_CURRENCY})` },
  },
  async run({ operands, flags, location }) {
    const input = parseNewSeller(operands[0] ?? '', flags['currency'] ?? DEFAULT_CURRENCY);
    const seller = await withNewStore(location, (store) => store.createSeller(input));
    return {
      document: describeSeller(seller),
      note: `Created seller "${seller.name}" with prices in ${seller.currency.code}. Its id:`,
      text: formatSellerId(seller.id),
    };
  },
};

export const listSellers: Command = {
  summary: 'Lists the sellers, oldest first.',
  async run({ location }) {
    const sellers = await withStore(location, (store) =>
      Array.fromAsync(listAll<SellerId, Seller>((query) => store.listSellers(query))));
    const hint = 'There is no seller yet. Create one: seller create NAME';
    return listResult('sellers', sellers.map(describeSeller), hint);
  },
};

export const disableSeller: Command = {
  summary: 'Disables the keys, sign-in and webhooks of a seller immediately; keeps all data.',
  operands: ['SELLER_ID'],
  run: (input) => setDisabled(input, true),
};

export const enableSeller: Command = {
  summary: 'Enables a disabled seller, with the same keys and account as before.',
  operands: ['SELLER_ID'],
  run: (input) => setDisabled(input, false),
};

export const resetPassword: Command = {
  summary: 'Sets the password of an account, typed at the prompt or read from standard input.',
  operands: ['SELLER_ID', '[EMAIL]'],
  async run({ operands: [id, named], location, io, note }) {
    const sellerId = readSellerId(id);
    const email = await withStore(location, async (store) => {
      const account = await getAccount(store, sellerId, named);
      const words = [account.sellerName, account.email, account.email.split('@')[0] ?? ''];
      const password = await readSecret(io.stdin, PASSWORD_LABELS, note);
      const parsed = parseNewPassword(password, words);
      if ('error' in parsed) throw new CommandFailure(`New password: ${parsed.error.detail}`);
      await store.resetPassword(account, await new Passwords().hash(parsed.value));
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
  operands: ['SELLER_ID', '[EMAIL]'],
  async run({ operands: [id, named], location }) {
    const sellerId = readSellerId(id);
    const { email, isReset } = await withStore(location, async (store) => {
      const account = await getAccount(store, sellerId, named);
      return { email: account.email, isReset: await store.resetTotp(account) };
    });
    const text = isReset
      ? `Turned off two-factor authentication of ${email} and ended all its sessions.`
      : `Two-factor authentication is already off for ${email}.`;
    return { document: { id: formatSellerId(sellerId), email, is_reset: isReset }, text };
  },
};

async function setDisabled({ operands, location }: Input, isDisabled: boolean): Promise<Result> {
  const id = readSellerId(operands[0]);
  const seller = await withStore(location, (store) => store.setSellerDisabled(id, isDisabled));
  const text = `${isDisabled ? 'Disabled' : 'Enabled'} seller "${seller.name}".`;
  return { document: describeSeller(seller), text };
}

/** @throws UsageError */
export function readSellerId(text = ''): SellerId {
  const id = parseSellerId(text);
  if (id !== undefined) return id;
  throw new UsageError(`"${text}" is not a seller id. "seller list" shows the ids.`);
}

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
    throw new CommandFailure('There is no such seller, or it has no account. Create an account with'
      + ' "seller invite --seller".');
  }
  const emails = accounts.map((account) => account.email).join(', ');
  if (email === undefined && second) {
    const hint = `Name one by its e-mail address: ${emails}.`;
    throw new CommandFailure(`This seller has several accounts. ${hint}`);
  }
  const found = email === undefined ? first
    : accounts.find((account) => account.email === parsed.value);
  if (found) return found;
  throw new CommandFailure(`This seller has no account with this e-mail. It has: ${emails}.`);
}
