/** `seller create`, `seller list`, `seller disable` and `seller enable`. */
import { formatSellerId, parseSellerId, type SellerId } from '../../domain/id.ts';
import { parseNewSeller, type Seller } from '../../domain/access/seller.ts';
import { formatOptionalTime, formatTime } from '../../domain/time.ts';
import { type Command, type Input, type Result, UsageError } from '../command.ts';
import { listResult } from '../format.ts';
import { readAllPages, withNewStore, withStore } from '../with-store.ts';

const DEFAULT_CURRENCY = 'EUR';

export const createSeller: Command = {
  summary: 'Creates a seller, who owns one catalogue.',
  operands: ['NAME'],
  flags: {
    currency: { value: 'CODE', help: `ISO 4217 code of all prices (default: ${DEFAULT_CURRENCY})` },
  },
  async run({ operands, flags, dataFolder }) {
    const input = parseNewSeller(operands[0] ?? '', flags['currency'] ?? DEFAULT_CURRENCY);
    const seller = await withNewStore(dataFolder, (store) => store.createSeller(input));
    return {
      document: describe(seller),
      note: `Created seller "${seller.name}" with prices in ${seller.currency.code}. Its id:`,
      text: formatSellerId(seller.id),
    };
  },
};

export const listSellers: Command = {
  summary: 'Lists the sellers, oldest first.',
  async run({ dataFolder }) {
    const sellers = await withStore(dataFolder, (store) =>
      readAllPages<SellerId, Seller>((query) => store.listSellers(query)));
    const hint = 'There is no seller yet. Create one: seller create NAME';
    return listResult('sellers', sellers.map(describe), hint);
  },
};

export const disableSeller: Command = {
  summary: 'Disables the keys, sign-in and webhooks of a seller at once; keeps all data.',
  operands: ['SELLER_ID'],
  run: (input) => setDisabled(input, true),
};

export const enableSeller: Command = {
  summary: 'Enables a disabled seller, with the same keys and account as before.',
  operands: ['SELLER_ID'],
  run: (input) => setDisabled(input, false),
};

async function setDisabled({ operands, dataFolder }: Input, isDisabled: boolean): Promise<Result> {
  const id = readSellerId(operands[0]);
  const seller = await withStore(dataFolder, (store) => store.setSellerDisabled(id, isDisabled));
  const text = `${isDisabled ? 'Disabled' : 'Enabled'} seller "${seller.name}".`;
  return { document: describe(seller), text };
}

/** @throws UsageError */
export function readSellerId(text = ''): SellerId {
  const id = parseSellerId(text);
  if (id !== undefined) return id;
  throw new UsageError(`"${text}" is not a seller id. "seller list" shows the ids.`);
}

function describe(seller: Seller) {
  return {
    id: formatSellerId(seller.id),
    name: seller.name,
    currency: seller.currency.code,
    position: seller.position,
    created_at: formatTime(seller.createdAt),
    disabled_at: formatOptionalTime(seller.disabledAt),
  };
}
