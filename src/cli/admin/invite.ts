/**
 * `seller invite`: prints an invitation code that lets one person create a portal account, with a
 * new shop or with a role in an existing one.
 */
import { DEFAULT_HOST, DEFAULT_PORT } from '../limits.ts';
import { type Account, type Role, ROLES } from '../../domain/access/account.ts';
import type { SellerId } from '../../domain/id.ts';
import { formatJoinUrl, invite } from '../../store/invitation.ts';
import type { AccountStore } from '../../store/account-store.ts';
import { type Command, type Input, setting, UsageError } from '../command.ts';
import { withNewStore, withStore } from '../with-store.ts';
import { getAccount } from './account.ts';
import { getSeller } from './seller.ts';

const DEFAULT_URL = `http://${DEFAULT_HOST}:${DEFAULT_PORT}`;

export const inviteSeller: Command = {
  summary: 'Prints a code that lets one person open a shop in the portal, or join one.',
  flags: {
    seller: { value: 'ID', help: 'invite to this existing seller' },
    role: { choices: ROLES, help: 'with --seller (default: owner)' },
    'replace-account': {
      help: 'with --seller: delete an account whose password is lost; the new one gets its role '
        + 'and name',
    },
    account: { value: 'EMAIL', help: 'with --replace-account: which, if there are several' },
    'base-url': setting('URL', `address of the server (default: ${DEFAULT_URL})`),
  },
  async run({ flags, location }) {
    const base = flags['base-url'] ?? DEFAULT_URL;
    const { seller } = flags;
    const role = readRole(flags);
    const open = seller === undefined ? withNewStore : withStore;
    const { url, code, expires_at } = await open(location, async (store) => {
      if (seller === undefined) {
        return { url: formatJoinUrl(base, undefined), ...await invite(store) };
      }
      const { id: sellerId } = await getSeller(store, seller);
      const replaced = flags['replace-account'] === undefined ? undefined
        : await removeAccount(store, sellerId, flags['account']);
      const invitation = await invite(store, { role, ...replaced, sellerId });
      return { url: formatJoinUrl(base, sellerId), ...invitation };
    });
    return {
      document: { url, code, expires_at },
      note: `Send the invited person this address and the code below: ${url}\n`
        + `The code works once, until ${expires_at}:`,
      text: code,
    };
  },
};

/** @throws UsageError for flags that do not belong together */
function readRole(flags: Input['flags']): Role {
  for (const [name, needed] of [
    ['role', 'seller'], ['replace-account', 'seller'], ['account', 'replace-account'],
  ] as const) {
    if (flags[name] === undefined || flags[needed] !== undefined) continue;
    throw new UsageError(`--${name} needs --${needed}.`);
  }
  if (flags['replace-account'] !== undefined && flags['role'] !== undefined) {
    throw new UsageError('--replace-account keeps the role of the account: omit --role.');
  }
  return (flags['role'] ?? 'owner') as Role; // the cast: these are its choices
}

/** Its role and its name, for the account that replaces it; nothing if there is no account. */
async function removeAccount(
  store: AccountStore, sellerId: SellerId, email: string | undefined,
): Promise<Pick<Account, 'role' | 'name'> | undefined> {
  if (email === undefined && (await store.listAccounts(sellerId)).length === 0) return undefined;
  const account = await getAccount(store, sellerId, email);
  await store.removeAccount(account);
  const { role, name } = account;
  return { role, name };
}
