/**
 * Reports: the value and the units in stock over time, and the products that moved most. Each can
 * be downloaded as CSV (`report-files.ts`).
 */
import { setTimeout as wait } from 'node:timers/promises';
import { DAY_MS } from '../../../domain/time.ts';
import type { Reply } from '../../../http/response/reply.ts';
import type { TopMovers } from '../../../store/history-store.ts';
import { findWholeNumber } from '../forms/typed-values.ts';
import { chartTable, lineChart } from '../html/chart.ts';
import { card, numeric, table } from '../html/elements.ts';
import { html, type Html, shorten } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import { REPORT_PERIODS, REPORT_WAIT_MS } from '../limits.ts';
import { pathOf } from '../products/product-path.ts';
import type { PageRequest, Portal } from '../route.ts';
import { type StockAtDay, stockHistories } from './stock-history.ts';
import { readTopMovers } from './top-movers.ts';

/** Longer periods show the ends of weeks. */
const DAILY_LIMIT_DAYS = 100;
const [WEEK_DAYS, NAME_BYTES] = [7, 120];

/** GET /portal/reports: 200 */
export async function showReports(request: PageRequest, portal: Portal): Promise<Reply> {
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
      <p><a href="${link('/movements')}">View each movement</a></p>`,
  });
}

function renderEmptyPage(request: PageRequest, portal: Portal): Reply {
  const { link } = request;
  return renderPage(request, portal, {
    title: 'Reports',
    content: html`<div class="empty"><p>No stock yet. ${request.may('editor')
      ? html`Add products to see your stock over time.</p><p class="row middle centre">
        <a class="button primary" href="${link('/import')}">Import a file</a>
        <a class="button" href="${link('/products/new')}">Create a product</a>`
      : 'Your stock over time appears here once there are products.'}</p></div>`,
  });
}

/** The days of the query, or the shortest period. */
export function readPeriod({ query }: PageRequest): number {
  const days = findWholeNumber(query.get('days'));
  return REPORT_PERIODS.find((period) => period === days) ?? REPORT_PERIODS[0] ?? 1;
}

export function readStockHistory(
  { account: { sellerId }, position }: PageRequest, { pageInstances, clock }: Portal, days: number,
): Promise<readonly StockAtDay[]> {
  const today = Math.floor(clock() / DAY_MS);
  return pageInstances.get(stockHistories).read(sellerId, position, today - days + 1, today);
}

/** Undefined if the result takes longer than a page may; it is kept for the next request. */
async function waitFor<Result>(result: Promise<Result>): Promise<Result | undefined> {
  const end = new AbortController();
  const { signal } = end;
  try {
    return await Promise.race([
      result, wait(REPORT_WAIT_MS, undefined, { signal, ref: false }).catch(() => undefined),
    ]);
  } finally {
    end.abort();
    result.catch(() => undefined); // after the race, nobody awaits it
  }
}

function renderHistory(
  request: PageRequest, all: readonly StockAtDay[], days: number,
): Html {
  const { format, link } = request;
  const last = all.at(-1)?.day ?? 0;
  const shown = days <= DAILY_LIMIT_DAYS ? all
    : all.filter(({ day }) => (last - day) % WEEK_DAYS === 0);
  const label = (day: number): string => format.utcDay(day * DAY_MS);
  const valued = shown.flatMap(({ day, valueMinor }) =>
    valueMinor === undefined ? [] : [{ label: label(day), value: Number(valueMinor) }]);
  const [value, units] = ['Value in stock', 'Units in stock'];
  return html`${card('value', value, lineChart({
    title: value, points: valued, compact: format.compactMoney,
    // Drawn from doubles; the table has the exact amounts.
    describe: (minor) => format.money(BigInt(minor)),
  }))}
    ${card('units', units, html`${lineChart({
    title: units, describe: format.number, compact: format.compact,
    points: shown.map((one) => ({ label: label(one.day), value: Number(one.units) })),
  })}${chartTable({
    title: 'Stock over time', columns: ['End of day (UTC)', 'Units', 'Value'],
    rows: shown.toReversed().map(({ day, units: count, valueMinor }) => [
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
