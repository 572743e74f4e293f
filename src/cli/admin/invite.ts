/** `seller invite`: a code by which somebody makes an account in the portal, once. */
import { DEFAULT_HOST, DEFAULT_PORT, INVITATION_CODE_LIFE_MS } from '../limits.ts';
import { generateCode, hashCode } from '../../domain/access/human-code.ts';
import { parseSellerId } from '../../domain/id.ts';
import { formatTime } from '../../domain/time.ts';
import type { Invitation } from '../../store/account-store.ts';
import type { Store } from '../../store/store.ts';
import { type Command, CommandFailure, UsageError } from '../command.ts';
import { withNewStore, withStore } from '../with-store.ts';

export const inviteSeller: Command = {
  summary: 'Prints a code with which somebody opens a shop in the portal, once.',
  operands: [],
  flags: {
    seller: { value: 'ID', help: 'an account for this seller, who is there already' },
    anew: { help: 'in the place of the one they have, which ends: its password is lost' },
    'base-url': {
      value: 'URL', isSetting: true,
      help: `where the portal is found (default: http://${DEFAULT_HOST}:${DEFAULT_PORT})`,
    },
  },
  async run({ flags, dataFolder, isJson, out, note }) {
    const base = flags['base-url'] ?? `http://${DEFAULT_HOST}:${DEFAULT_PORT}`;
    const sellerId = flags['seller'] === undefined ? undefined : parseSellerId(flags['seller']);
    if (flags['seller'] !== undefined && sellerId === undefined) {
      throw new UsageError(`--seller takes the id of a seller, not "${flags['seller']}".`);
    }
    const isAnew = flags['anew'] !== undefined;
    if (isAnew && sellerId === undefined) throw new UsageError('--anew needs --seller.');
    const expiresAt = Date.now() + INVITATION_CODE_LIFE_MS;
    const open = sellerId === undefined ? withNewStore : withStore;
    const code = await open(dataFolder, async (store) => {
      if (sellerId !== undefined) {
        if (!await store.findSeller(sellerId)) throw new CommandFailure('No such seller.');
        if (isAnew) await store.removeAccount(sellerId);
        if (await store.findAccount(sellerId)) {
          const hint = 'Where its password is lost, add --anew.';
          throw new CommandFailure(`This seller has an account already. ${hint}`);
        }
      }
      return makeInvitation(store, { sellerId, isFirst: false, expiresAt });
    });
    const shop = sellerId === undefined ? '' : '?shop=existing';
    const url = `${base.replace(/\/+$/, '')}/portal/join${shop}`;
    if (isJson) {
      out(JSON.stringify({ url, code, expires_at: formatTime(expiresAt) }));
      return;
    }
    note(`Give both to whoever you invite: the address ${url}\nand this code. It works once, until `
      + `${formatTime(expiresAt)}:`);
    out(code);
  },
};

/** The code itself, which is kept nowhere. */
export async function makeInvitation(store: Store, invitation: Invitation): Promise<string> {
  const code = generateCode();
  await store.createInvitation(hashCode(code) ?? '', invitation);
  return code;
}
