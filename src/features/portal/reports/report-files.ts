/** The values of charts as CSV: days and hours of UTC, and amounts without separators. */
import { CSV_TYPE } from '../../../api/media-types.ts';
import { AppError } from '../../../domain/error.ts';
import { formatProductId } from '../../../domain/id.ts';
import { DAY_MS, HOUR_MS } from '../../../domain/time.ts';
import { formatAttachment, type Reply } from '../../../http/response/reply.ts';
import { formatCsvHeader, formatCsvRow } from '../../../transfer/csv-cells.ts';
import { toDecimal } from '../html/format.ts';
import { OVERVIEW_DAYS } from '../limits.ts';
import { findKeyId } from '../keys/key-facts.ts';
import { readDayUsage, type Usage } from '../overview/request-stats.ts';
import type { PageRequest, Portal } from '../route.ts';
import { readPeriod, readStockHistory } from './reports.ts';
import { readTopMovers } from './top-movers.ts';

const NO_REPORT = 'There is no such report.';

type Cell = string | number | undefined;

interface ReportFile {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

const FILES: Readonly<Record<
  string, (request: PageRequest, portal: Portal) => Promise<ReportFile>
>> = {
  async stock(request, portal) {
    const { decimals } = request.account.currency;
    const days = await readStockHistory(request, portal, readPeriod(request));
    return {
      columns: ['day', 'units', 'value'],
      rows: days.map(({ day, units, valueMinor }) => [
        formatDay(day), String(units),
        valueMinor === undefined ? undefined : toDecimal(valueMinor, decimals),
      ]),
    };
  },
  async movers(request, portal) {
    const { most } = await readTopMovers(request, portal, readPeriod(request));
    const { sellerId } = request.account;
    const list = (by: string, movers: typeof most.unitsIn) =>
      movers.map(({ productId, sku, unitsIn, unitsOut }) =>
        [by, formatProductId(sellerId, productId), sku, unitsOut, unitsIn]);
    return {
      columns: ['most', 'product_id', 'sku', 'units_out', 'units_in'],
      rows: [...list('out', most.unitsOut), ...list('in', most.unitsIn)],
    };
  },
  async movements({ account: { sellerId } }, { store, clock }) {
    const since = Math.floor(clock() / DAY_MS) - OVERVIEW_DAYS + 1;
    const days = await store.listStockDays(sellerId, { since, limit: OVERVIEW_DAYS });
    return {
      columns: ['day', 'units_in', 'units_out'],
      rows: days.map(({ day, unitsIn, unitsOut }) => [formatDay(day), unitsIn, unitsOut]),
    };
  },
  async requests({ account: { sellerId }, may }, portal) {
    // It is about keys, like the card of the overview.
    if (!may('owner')) throw new AppError('not_found', NO_REPORT);
    const { byHour } = await readDayUsage(portal, sellerId);
    return listHours(byHour);
  },
  async 'key-requests'(request, portal) {
    const keyId = request.may('owner') ? findKeyId(request, request.query.get('key') ?? '')
      : undefined;
    if (keyId === undefined) throw new AppError('not_found', 'You have no key with this id.');
    return listHours((await readDayUsage(portal, request.account.sellerId, keyId)).byHour);
  },
};

function listHours(byHour: ReadonlyMap<number, Usage>): ReportFile {
  return {
    columns: ['hour', 'succeeded', 'rejected'],
    rows: [...byHour].sort(([one], [other]) => one - other).map(([hour, usage]) => [
      new Date(hour * HOUR_MS).toISOString(), usage.requests - usage.refusals, usage.refusals,
    ]),
  };
}

/** GET /portal/reports/{report}: 200, 404 */
export async function downloadReport(request: PageRequest, portal: Portal): Promise<Reply> {
  const name = request.parameters['report'] ?? '';
  const read = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
  if (!read) throw new AppError('not_found', NO_REPORT);
  const { columns, rows } = await read(request, portal);
  const day = formatDay(Math.floor(portal.clock() / DAY_MS));
  return {
    status: 200,
    headers: {
      'content-type': `${CSV_TYPE}; charset=utf-8`, 'cache-control': 'no-store',
      'content-disposition': formatAttachment(`${name}-${day}.csv`),
    },
    body: formatCsvHeader(columns) + rows.map((row) => formatCsvRow(row)).join(''),
  };
}

function formatDay(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}
