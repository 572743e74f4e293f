/** `seller create` and `seller list`. */
import { formatSellerId, type SellerId } from '../domain/id.ts';
import { parseNewSeller, type Seller } from '../domain/seller.ts';
import { formatTime } from '../domain/time.ts';
import type { Command } from './command.ts';
import { readAllPages } from './pages.ts';
import { formatTable } from './table.ts';
import { withStore } from './with-store.ts';

const DEFAULT_CURRENCY = 'EUR';

export const createSeller: Command = {
  summary: 'Creates a seller, the owner of a catalogue.',
  operands: ['NAME'],
  flags: {
    currency: { value: 'CODE', help: `ISO 4217 code of all prices (default: ${DEFAULT_CURRENCY})` },
  },
  async run({ operands, flags, isJson, dataFolder, out, note }) {
    const input = parseNewSeller(operands[0] ?? '', flags['currency'] ?? DEFAULT_CURRENCY);
    const seller = await withStore(dataFolder, (store) => store.createSeller(input));
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

function describe(seller: Seller) {
  return {
    id: formatSellerId(seller.id),
    name: seller.name,
    currency: seller.currency.code,
    position: seller.position,
    created_at: formatTime(seller.createdAt),
  };
}
