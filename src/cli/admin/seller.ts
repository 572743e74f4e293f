/** `seller create`, `list`, `disable`, `enable` and `delete`. */
import { formatSellerId, parseSellerId, type SellerId } from '../../domain/id.ts';
import {
  DEFAULT_CURRENCY, describeDeletedSeller, describeSeller, parseNewSeller, type Seller,
} from '../../domain/access/seller.ts';
import { listAll } from '../../store/list-all.ts';
import { type Command, type Input, type Result, UsageError } from '../command.ts';
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
  summary: 'Deletes a disabled seller with all data, for good.',
  operands: ['SELLER_ID'],
  flags: { yes: { help: 'confirm that only backups can bring the data back' } },
  async run({ operands, flags, location }) {
    const id = readSellerId(operands[0]);
    if (flags['yes'] === undefined) {
      throw new UsageError('Only a backup can bring the data of the seller back. Add --yes.');
    }
    const deletedAt = await withStore(location, (store) => store.deleteSeller(id));
    const document = describeDeletedSeller(id, deletedAt);
    return { document, note: document.note, text: `Deleted seller ${document.id}.` };
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
