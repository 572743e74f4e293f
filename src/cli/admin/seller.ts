/** `seller create`, `seller list`, `seller disable` and `seller enable`. */
import { formatSellerId, parseSellerId, type SellerId } from '../../domain/id.ts';
import { parseNewSeller, type Seller } from '../../domain/access/seller.ts';
import { formatTime } from '../../domain/time.ts';
import { type Command, type Input, UsageError } from '../command.ts';
import { readAllPages } from '../pages.ts';
import { formatTable } from '../table.ts';
import { withNewStore, withStore } from '../with-store.ts';

const DEFAULT_CURRENCY = 'EUR';

export const createSeller: Command = {
  summary: 'Creates a seller, the owner of a catalogue.',
  operands: ['NAME'],
  flags: {
    currency: { value: 'CODE', help: `ISO 4217 code of all prices (default: ${DEFAULT_CURRENCY})` },
  },
  async run({ operands, flags, isJson, dataFolder, out, note }) {
    const input = parseNewSeller(operands[0] ?? '', flags['currency'] ?? DEFAULT_CURRENCY);
    const seller = await withNewStore(dataFolder, (store) => store.createSeller(input));
    if (isJson) {
      out(JSON.stringify(describe(seller)));
      return;
    }
    note(`Seller "${seller.name}" is created, with prices in ${seller.currency.code}. Its id:`);
    out(formatSellerId(seller.id));
  },
};

export const listSellers: Command = {
  summary: 'Lists the sellers, in the order in which they were created.',
  operands: [],
  flags: {},
  async run({ isJson, dataFolder, out, note }) {
    const sellers = await withStore(dataFolder, (store) =>
      readAllPages<SellerId, Seller>((query) => store.listSellers(query)));
    const rows = sellers.map(describe);
    if (isJson) out(JSON.stringify({ sellers: rows }));
    else if (rows.length === 0) note('There is no seller yet. Create one: seller create NAME');
    else out(formatTable(rows));
  },
};

export const disableSeller: Command = {
  summary: 'Disables a seller at once: keys, sign-in and webhooks; all data stay.',
  operands: ['SELLER_ID'],
  flags: {},
  run: (input) => setDisabled(input, true),
};

export const enableSeller: Command = {
  summary: 'Enables a seller again, with the keys and the account that there were.',
  operands: ['SELLER_ID'],
  flags: {},
  run: (input) => setDisabled(input, false),
};

async function setDisabled(
  { operands, isJson, dataFolder, out }: Input, isDisabled: boolean,
): Promise<void> {
  const id = readSellerId(operands[0]);
  const seller = await withStore(dataFolder, (store) => store.setSellerDisabled(id, isDisabled));
  if (isJson) out(JSON.stringify(describe(seller)));
  else out(`Seller "${seller.name}" is ${isDisabled ? 'disabled' : 'enabled'}.`);
}

/** @throws UsageError */
export function readSellerId(text = ''): SellerId {
  const id = parseSellerId(text);
  if (id !== undefined) return id;
  throw new UsageError(`"${text}" is not the id of a seller; "seller list" shows the ids.`);
}

function describe(seller: Seller) {
  return {
    id: formatSellerId(seller.id),
    name: seller.name,
    currency: seller.currency.code,
    position: seller.position,
    created_at: formatTime(seller.createdAt),
    disabled_at: seller.disabledAt === undefined ? null : formatTime(seller.disabledAt),
  };
}
