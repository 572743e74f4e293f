/** `stock set` and `stock movements`: stock, and the stock ledger, of a running server. */
import type { StockChange, StockResult } from '../../client/index.ts';
import { STOCK_LIMIT } from '../../domain/limits.ts';
import { explainFailure, isFailure } from '../../domain/catalogue/stock-change.ts';
import { CommandFailure, UsageError } from '../command.ts';
import { formatCount } from '../../domain/wording.ts';
import { listResult } from '../format.ts';
import { printable } from '../printable.ts';
import { readNumber } from '../settings.ts';
import { formatIssues } from './api-error.ts';
import { LIMIT_FLAG, openClient, remoteCommand, takeRows } from './client.ts';

export const setStock = remoteCommand({
  summary: 'Sets the stock of a product, such as 40, or adjusts it, such as +5 or -2.',
  operands: ['SKU', 'N|+N|-N'],
  flags: {
    expect: { value: 'N', range: [0, STOCK_LIMIT], help: 'only if this is the stock now' },
    reason: { value: 'TEXT', help: 'why, for the stock ledger' },
    source: { value: 'NAME', help: 'the system that the number comes from, for the stock ledger' },
  },
  async run(input) {
    const { operands: [sku = '', quantity = ''], flags } = input;
    const { expect, source, reason } = flags;
    const change: StockChange = {
      sku, ...parseQuantity(quantity),
      ...(expect !== undefined && { expect: readNumber(flags, 'expect', 0) }),
    };
    const { results: [result] } = await openClient(input).stock.sync([change], { source, reason });
    if (!result || isFailure(result.status)) {
      const why = result ? explainStockResult(result, change.expect) : 'The server has no result.';
      throw new CommandFailure(`${why} Nothing was changed.`);
    }
    const { previous, stock: after, status } = result;
    return {
      document: result,
      text: printable(`${sku}: ${status === 'unchanged' ? `${after} already`
        : `${previous} -> ${after}`}`),
    };
  },
});

export const listMovements = remoteCommand({
  summary: 'Lists who changed which stock, when and why, newest first: the stock ledger.',
  operands: ['[SKU]'],
  flags: {
    id: { value: 'ID', help: 'of the product, instead of the SKU' },
    since: { value: 'TIME', help: 'only movements since this time (RFC 3339)' },
    until: { value: 'TIME', help: 'only movements until this time' },
    import: { value: 'IMPORT_ID', help: 'only movements of this import' },
    source: { value: 'NAME', help: 'only movements from this system' },
    limit: LIMIT_FLAG,
  },
  async run(input) {
    const { operands: [sku], flags } = input;
    const { id, since, until, import: importId, source } = flags;
    if (sku !== undefined && id !== undefined) throw new UsageError('Give either SKU or --id ID.');
    const { stock } = openClient(input);
    const movements = await takeRows(input, (limit) => stock.movements({
      sku, id, since, until, import: importId, source, sort: '-position', limit,
    }));
    return listResult('movements', movements, 'No stock movement matches.', (row) => ({
      position: row.position, at: row.at, sku: row.sku, before: row.before, after: row.after,
      reason: row.reason, source: row.source, import: row.import,
    }));
  },
});

/** A new stock, or with a sign a difference. @throws UsageError */
function parseQuantity(text: string): Pick<StockChange, 'set' | 'adjust'> {
  const [, sign, digits = ''] = /^([+-]?)(\d{1,10})$/.exec(text) ?? [];
  const number = Number(digits);
  if (sign !== undefined && number <= STOCK_LIMIT) {
    return sign === '' ? { set: number } : { adjust: sign === '-' ? -number : number };
  }
  throw new UsageError(`"${text}" is not a stock, such as 40, or a difference, such as +5 or -2.`
    + ` The largest is ${formatCount(STOCK_LIMIT)}.`);
}

/** Why a change was not made; `expect` is what it sent, if that is known. */
export function explainStockResult(result: StockResult, expect?: number): string {
  return explainFailure(result, expect) ?? formatIssues(result.errors);
}
