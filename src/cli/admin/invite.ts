/** `seller invite`: prints an invitation code that lets one person create a portal account. */
import { DEFAULT_HOST, DEFAULT_PORT } from '../limits.ts';
import type { SellerId } from '../../domain/id.ts';
import { formatJoinUrl, invite } from '../../embed/invitation.ts';
import type { AccessStore } from '../../store/access-store.ts';
import type { AccountStore } from '../../store/account-store.ts';
import { type Command, CommandFailure, setting, UsageError } from '../command.ts';
import { withNewStore, withStore } from '../with-store.ts';
import { readSellerId } from './seller.ts';

const DEFAULT_URL = `http://${DEFAULT_HOST}:${DEFAULT_PORT}`;

export const inviteSeller: Command = {
  summary: 'Prints an invitation code that lets one person open a shop in the portal.',
  flags: {
    seller: { value: 'ID', help: 'invite the owner of this existing seller, who has no account' },
    'replace-account': {
      help: 'with --seller: delete its current account, whose password is lost', formerName: 'anew',
    },
    'base-url': setting('URL', `address of the server (default: ${DEFAULT_URL})`),
  },
  async run({ flags, location }) {
    const base = flags['base-url'] ?? DEFAULT_URL;
    const isReplacing = flags['replace-account'] !== undefined;
    const sellerId = flags['seller'] === undefined ? undefined : readSellerId(flags['seller']);
    if (isReplacing && sellerId === undefined) {
      throw new UsageError('--replace-account needs --seller.');
    }
    const open = sellerId === undefined ? withNewStore : withStore;
    const { code, expires_at } = await open(location, async (store) => {
      if (sellerId !== undefined) await assertInvitable(store, sellerId, isReplacing);
      return invite(store, { sellerId });
    });
    const url = formatJoinUrl(base, sellerId);
    return {
      document: { url, code, expires_at },
      note: `Send the invited person this address and the code below: ${url}\n`
        + `The code works once, until ${expires_at}:`,
      text: code,
    };
  },
};

async function assertInvitable(
  store: AccessStore & AccountStore, sellerId: SellerId, isReplacing: boolean,
): Promise<void> {
  if (!await store.findSeller(sellerId)) throw new CommandFailure('There is no such seller.');
  if (isReplacing) await store.removeAccount(sellerId);
  if (!await store.findAccount(sellerId)) return;
  throw new CommandFailure('This seller already has an account. If its password is lost, add'
    + ' --replace-account.');
}
