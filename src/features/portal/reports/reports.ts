/**
 * Reports: the value and the units in stock over time, and the products that moved most. The values
 * of charts can be downloaded as CSV: days and hours of UTC, and amounts without separators. The
 * top movers of a shop are kept while its position and the period are the same, so that reloading
 * the page, or its CSV file, reads no changes again.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { CSV_TYPE } from '../../../api/media-types.ts';
import { AppError } from '../../../domain/error.ts';
import { formatProductId, type SellerId } from '../../../domain/id.ts';
import { DAY_MS, HOUR_MS } from '../../../domain/time.ts';
import { formatAttachment, type Reply } from '../../../http/response/reply.ts';
import { BoundedMap } from '../../../runtime/bounded-map.ts';
import type { TopMovers } from '../../../store/history-store.ts';
import { formatCsvHeader, formatCsvRow } from '../../../transfer/csv-cells.ts';
import { formatDay } from '../forms/date-range.ts';
import { findWholeNumber } from '../forms/typed-values.ts';
import { chartTable, lineChart } from '../html/chart.ts';
import { card, numeric, table } from '../html/elements.ts';
import { toDecimal } from '../html/format.ts';
import { html, type Html, shorten } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import { findKeyId } from '../keys/key-facts.ts';
import {
  OVERVIEW_DAYS, REPORT_PERIODS, REPORT_WAIT_MS, REPORTS_KEPT_LIMIT, TOP_MOVERS_SHOWN,
} from '../limits.ts';
import { readDayUsage, type Usage } from '../overview/request-stats.ts';
import { pathOf } from '../products/product-path.ts';
import { hasPage, type PageRequest, type Portal, type Show } from '../route.ts';
import { type StockAtDay, stockHistories } from './stock-history.ts';

/** Longer periods show the ends of weeks. */
const DAILY_LIMIT_DAYS = 100;
const [WEEK_DAYS, NAME_BYTES] = [7, 120];

/** GET /portal/reports: 200 */
export const showReports: Show = async (request, portal) => {
  const { link } = request;
  if (request.position === 0) return renderEmptyPage(request, portal);
  const days = readPeriod(request);
  const [history, movers] = await Promise.all([
    waitFor(readStockHistory(request, portal, days)),
    waitFor(readTopMovers(request, portal, days)),
  ]);
  return renderPage(request, portal, {
    title: 'Reports',
    content: html`<nav class="row middle" aria-label="Period">${REPORT_PERIODS.map((period) => html`
        <a class="button small" href="${link(`/reports?days=${period}`)}"${
  period === days && html` aria-current="true"`}>${period} days</a> `)}</nav>
      ${history && renderHistory(request, history, days)}
      ${!(history && movers) && html`<div class="notice low">
        <p>The report of the last ${days} days is being calculated. Reload the page in a moment.</p>
      </div>`}
      <p class="small quiet">Archived products count here, because their stock is still there. The
        overview leaves them out.</p>
      ${movers && await renderMovers(request, portal, movers, days)}
      ${hasPage(portal, '/movements') && html`
        <p><a href="${link('/movements')}">View each movement</a></p>`}`,
  });
};

function renderEmptyPage(request: PageRequest, portal: Portal): Reply {
  const { link } = request;
  return renderPage(request, portal, {
    title: 'Reports',
    content: html`<div class="empty"><p>No stock yet. ${request.may('editor')
      ? html`Add products to see your stock over time.</p><p class="row middle centre">
        ${hasPage(portal, '/import') && html`
          <a class="button primary" href="${link('/import')}">Import a file</a>`}
        <a class="button" href="${link('/products/new')}">Create a product</a>`
      : 'Your stock over time appears here once there are products.'}</p></div>`,
  });
}

/** The days of the query, or the shortest period. */
function readPeriod({ query }: PageRequest): number {
  const days = findWholeNumber(query.get('days'));
  return REPORT_PERIODS.find((period) => period === days) ?? REPORT_PERIODS[0] ?? 1;
}

function readStockHistory(
  { account: { sellerId }, position }: PageRequest, { pageInstances, clock }: Portal, days: number,
): Promise<readonly StockAtDay[]> {
  const today = Math.floor(clock() / DAY_MS);
  return pageInstances.get(stockHistories).read(sellerId, position, today - days + 1, today);
}

/** Undefined if the result takes longer than a page may; it is kept for the next request. */
function waitFor<Result>(result: Promise<Result>): Promise<Result | undefined> {
  return Promise.race([result, wait(REPORT_WAIT_MS, undefined, { ref: false })]);
}

function renderHistory(request: PageRequest, all: readonly StockAtDay[], days: number): Html {
  const { format, link } = request;
  const last = all.at(-1)?.day ?? 0;
  const shownDays = days <= DAILY_LIMIT_DAYS ? all
    : all.filter(({ day }) => (last - day) % WEEK_DAYS === 0);
  const label = (day: number): string => format.utcDay(day * DAY_MS);
  const valued = shownDays.flatMap(({ day, valueMinor }) =>
    valueMinor === undefined ? [] : [{ label: label(day), value: Number(valueMinor) }]);
  const [value, units] = ['Value in stock', 'Units in stock'];
  return html`${card('value', value, lineChart({
    title: value, points: valued, compact: format.compactMoney,
    // Drawn from doubles; the table has the exact amounts.
    describe: (minor) => format.money(BigInt(minor)),
  }))}
    ${card('units', units, html`${lineChart({
    title: units, describe: format.number, compact: format.compact,
    points: shownDays.map(({ day, units: count }) => ({ label: label(day), value: Number(count) })),
  })}${chartTable({
    title: 'Stock over time', columns: ['End of day (UTC)', 'Units', 'Value'],
    rows: shownDays.toReversed().map(({ day, units: count, valueMinor }) => [
      label(day), format.number(count),
      valueMinor === undefined ? 'unknown' : format.money(valueMinor),
    ]),
    csv: link(`/reports/stock?days=${days}`),
  })}`)}`;
}

async function renderMovers(
  request: PageRequest, portal: Portal, { most, isWhole, since }: TopMovers, days: number,
): Promise<Html> {
  const { format, link, account: { sellerId } } = request;
  const ids = [...new Set([...most.unitsOut, ...most.unitsIn].map(({ productId }) => productId))];
  const products = await portal.store.findProducts(sellerId, ids);
  const list = (member: keyof TopMovers['most'], label: string): Html => {
    const top = most[member][0]?.[member] ?? 1;
    return table({
      caption: `Products with the most units ${label}`,
      columns: ['Product', numeric('Out'), numeric('In')],
      rows: most[member].map(({ productId, sku, unitsIn, unitsOut, [member]: units }) => {
        const product = products.get(productId);
        return [
          html`${product ? html`<a href="${link(pathOf(product))}">${
            shorten(product.name, NAME_BYTES)}</a>` : html`<code>${sku}</code> (deleted)`}
            <svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"><rect
              class="${member === 'unitsIn' ? 'in' : 'out'}" width="${
  Math.max(Math.round(100 * units / top), 1)}" height="1"/></svg>`,
          format.number(unitsOut), format.number(unitsIn),
        ];
      }),
      empty: html`<p>No units ${label} in this period.</p>`,
    });
  };
  return html`<section aria-labelledby="movers"><h2 id="movers">Top movers</h2>
    ${!isWhole && html`<p class="quiet">${since === undefined
      ? 'The history of this period was removed.'
      : html`Of the newest movements, since ${format.time(since)}.`}</p>`}
    <div class="columns"><div><h3>Out</h3>${list('unitsOut', 'out')}</div>
      <div><h3>In</h3>${list('unitsIn', 'in')}</div></div>
    <p class="small"><a href="${link(`/reports/movers?days=${days}`)}">Download as CSV</a></p>
  </section>`;
}

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
        formatDay(day * DAY_MS), String(units),
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
      rows: days.map(({ day, unitsIn, unitsOut }) =>
        [formatDay(day * DAY_MS), unitsIn, unitsOut]),
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
export const downloadReport: Show = async (request, portal) => {
  const name = request.parameters['report'] ?? '';
  const read = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
  if (!read) throw new AppError('not_found', NO_REPORT);
  const { columns, rows } = await read(request, portal);
  return {
    status: 200,
    headers: {
      'content-type': `${CSV_TYPE}; charset=utf-8`, 'cache-control': 'no-store',
      'content-disposition': formatAttachment(`${name}-${formatDay(portal.clock())}.csv`),
    },
    body: formatCsvHeader(columns) + rows.map((row) => formatCsvRow(row)).join(''),
  };
};

interface KeptMovers {
  readonly position: number;
  readonly since: number;
  /** Shared by requests that arrive while it is calculated. */
  readonly movers: Promise<TopMovers>;
}

/** Of the last days, today included. */
function readTopMovers(
  { account: { sellerId }, position }: PageRequest, { pageInstances, clock }: Portal, days: number,
): Promise<TopMovers> {
  const since = (Math.floor(clock() / DAY_MS) - days + 1) * DAY_MS;
  return pageInstances.get(keepTopMovers)(sellerId, position, since);
}

/** Created on first use. */
function keepTopMovers({ store }: Pick<Portal, 'store'>) {
  /** Least recently calculated first. */
  const kept = new BoundedMap<SellerId, KeptMovers>(REPORTS_KEPT_LIMIT);
  return (sellerId: SellerId, position: number, since: number): Promise<TopMovers> => {
    const cached = kept.get(sellerId);
    if (cached?.position === position && cached.since === since) return cached.movers;
    const movers = store.listTopMovers(sellerId, {
      since, after: 0, upTo: position, limit: TOP_MOVERS_SHOWN,
    });
    const entry = { position, since, movers };
    kept.set(sellerId, entry);
    movers.catch(() => {
      if (kept.get(sellerId) === entry) kept.delete(sellerId);
    });
    return movers;
  };
}
