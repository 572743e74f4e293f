/** `seller create`, `list`, `disable`, `enable` and `delete`. */
import { AppError } from '../../domain/error.ts';
import { formatSellerId, type SellerId } from '../../domain/id.ts';
import {
  DEFAULT_CURRENCY, describeDeletedSeller, describeSeller, findSellerNamed, parseNewSeller,
  parseSellerReference, type Seller,
} from '../../domain/access/seller.ts';
import type { AccessStore } from '../../store/access-store.ts';
import { listAll } from '../../store/list-all.ts';
import type { Command, Input, Result } from '../command.ts';
import { confirm, YES_FLAG } from '../confirm.ts';
import { listResult } from '../format.ts';
import { withNewStore, withStore } from '../with-store.ts';

export const createSeller: Command = {
  summary: 'Creates a seller, who owns one catalogue.',
  operands: ['NAME'],
  flags: {
    'external-id': { value: 'ID', help: 'your own id of the seller, which no other seller has' },
    currency: { value: 'CODE', help: `ISO 4217 code of all prices (default: ${DEFAULT_CURRENCY})` },
  },
  async run({ operands, flags, location }) {
    const input = parseNewSeller(operands[0] ?? '', flags['currency'] ?? DEFAULT_CURRENCY,
      flags['external-id']);
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

export const deleteSeller: Command = {
  summary: 'Permanently deletes a disabled seller and its data. Asks to confirm on a terminal.',
  operands: ['SELLER_ID'],
  flags: YES_FLAG,
  async run(input) {
    const { operands, location } = input;
    const document = await withStore(location, async (store) => {
      const reference = parseSellerReference(operands[0] ?? '');
      // By its id, a deletion can be repeated once the seller is no longer there.
      const seller = typeof reference === 'number' ? await store.findSeller(reference)
        : await getSeller(store, operands[0]);
      const id = seller?.id ?? reference as SellerId; // the cast: it is no external id
      const question = `Delete the seller "${seller?.name ?? operands[0]}" with all data? `
        + 'Only a backup can bring it back.';
      await confirm(input, question);
      return describeDeletedSeller(id, await store.deleteSeller(id));
    });
    return { document, note: document.note, text: `Deleted seller ${document.id}.` };
  },
};

async function setDisabled({ operands, location }: Input, isDisabled: boolean): Promise<Result> {
  const seller = await withStore(location, async (store) =>
    store.setSellerDisabled((await getSeller(store, operands[0])).id, isDisabled));
  const text = `${isDisabled ? 'Disabled' : 'Enabled'} seller "${seller.name}".`;
  return { document: describeSeller(seller), text };
}

/** The seller with an id or external id. @throws AppError `not_found` */
export async function getSeller(store: AccessStore, text = ''): Promise<Seller> {
  const seller = await findSellerNamed(store, text);
  if (seller) return seller;
  const hint = '"seller list" shows the ids.';
  throw new AppError('not_found', `No seller has the id or external id "${text}". ${hint}`);
}
