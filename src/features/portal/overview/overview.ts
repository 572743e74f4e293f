/**
 * The overview: catalogue totals, low stock, stock movements of the last 30 days and API requests
 * of the last 24 hours. Each part is read separately, so a pending recount of the totals does not
 * delay the rest.
 */
import { undefinedIf } from '../../../domain/error.ts';
import { DAY_MS } from '../../../domain/time.ts';
import type { StockDay } from '../../../store/history-store.ts';
import { barChart } from '../html/chart.ts';
import { card, numeric, table } from '../html/elements.ts';
import { html, type Html } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import { LOW_STOCK_COUNT_LIMIT, LOW_STOCK_SHOWN, OVERVIEW_DAYS } from '../limits.ts';
import { pathOf } from '../products/product-path.ts';
import { hasPage, type PageRequest, type Portal, type Show } from '../route.ts';
import { renderTourCard } from '../start/tour.ts';
import { renderRequestStats } from './request-stats.ts';

const STOCK_MOVEMENTS = `Stock movements, last ${OVERVIEW_DAYS} days`;

/** GET /portal: 200 */
export const showOverview: Show = async (request, portal) => {
  const { account: { sellerId }, position } = request;
  // The others are about keys and webhooks, too.
  const isOwner = request.may('owner');
  const since = Math.floor(portal.clock() / DAY_MS) - OVERVIEW_DAYS + 1;
  const [notices, tour, catalogue, days, requestStats] = await Promise.all([
    Promise.all(portal.additions.map(({ notice }) => notice?.(request, portal))),
    request.may('editor') && renderTourCard(request, portal),
    readCatalogueStats(request, portal),
    portal.store.listStockDays(sellerId, { since, limit: OVERVIEW_DAYS }),
    isOwner && renderRequestStats(request, portal),
  ]);
  return renderPage(request, portal, {
    title: 'Overview',
    content: html`${notices}${tour}
      ${catalogue ? renderTotals(request, catalogue) : html`<div class="notice low">
        <p>Totals are being recounted after a large change. Reload the page in a moment.</p>
      </div>`}
      <div class="columns">
        ${card('moved', STOCK_MOVEMENTS, html`${renderDays(request, days, since)}
          ${hasPage(portal, '/movements') && html`
            <p><a href="${request.link('/movements')}">View each movement</a></p>`}
          <p><a href="${request.link('/reports')}">View stock over time and top movers</a></p>`)}
        ${requestStats}
      </div>
      ${catalogue && position > 0 && renderLowStock(request, catalogue)}`,
    scripts: tour ? ['tour.js'] : [],
  });
};

type CatalogueStats = NonNullable<Awaited<ReturnType<typeof readCatalogueStats>>>;

/** Undefined until the projection has caught up with the catalogue. */
async function readCatalogueStats(
  { account: { sellerId, lowStock: stockMax }, position }: PageRequest, { store }: Portal,
) {
  const stats = await undefinedIf('unavailable', Promise.all([
    store.readTotals(sellerId, position),
    store.countLowStock(sellerId, { stockMax, limit: LOW_STOCK_COUNT_LIMIT }, position),
    store.searchProducts(sellerId, {
      filter: { lowStock: stockMax }, sort: { by: 'stock', isDescending: false },
      after: undefined, limit: LOW_STOCK_SHOWN,
    }, position),
  ]));
  if (!stats) return undefined;
  const [totals, lowCount, { products: low }] = stats;
  return { totals, lowCount, low };
}

function renderTotals({ format, link }: PageRequest, { totals, lowCount }: CatalogueStats): Html {
  const { products, units, valueMinor } = totals;
  const more = lowCount >= LOW_STOCK_COUNT_LIMIT ? '+' : '';
  const figures: readonly (readonly [name: string, value: string, path?: string])[] = [
    ['Products', format.number(products), '/products'],
    ['Units in stock', format.number(units)],
    ['Value in stock', format.money(valueMinor)],
    ['Low or sold out', format.number(lowCount) + more, '/products?stock=low'],
  ];
  return html`<div class="figures">${figures.map(([name, value, path]) => html`
    <section class="card"><h2 class="quiet small">${name}</h2>
      <p class="figure ${findSize(value)}">${path === undefined ? value
    : html`<a href="${link(path)}">${value}</a>`}</p></section>`)}
  </div>`;
}

/** Longer numbers get a smaller font, so they fit on one line on a phone. */
function findSize({ length }: string): string {
  return length > 21 ? 'longest' : length > 16 ? 'long' : '';
}

function renderDays({ format, link }: PageRequest, days: readonly StockDay[], since: number): Html {
  const bars = Array.from({ length: OVERVIEW_DAYS }, (_, index) => {
    const moved = days.find(({ day }) => day === since + index);
    return {
      label: format.utcDay((since + index) * DAY_MS),
      up: moved?.unitsIn ?? 0, down: moved?.unitsOut ?? 0,
    };
  });
  return barChart({
    title: STOCK_MOVEMENTS, unit: 'Day (UTC)', names: { up: 'In', down: 'Out' }, bars,
    number: format.number, csv: link('/reports/movements'),
  });
}

function renderLowStock(request: PageRequest, { low, lowCount }: CatalogueStats): Html {
  const { account, format, link } = request;
  return html`<section aria-labelledby="low">
    <h2 id="low">Low stock</h2>
    ${table({
    caption: 'Products with the least stock',
    columns: ['Product', numeric('Stock'), 'SKU'],
    rows: low.map((product) => [
      html`<a href="${link(pathOf(product))}">${product.name}</a>`,
      html`<span class="tag ${product.stock === 0 ? 'bad' : 'low'}">${
        format.number(product.stock)}</span>`,
      html`<code>${product.sku}</code>`,
    ]),
    empty: html`<p>No products with low stock: ${format.number(account.lowStock)} or less, unless a
      product has its own threshold.
      ${request.may('editor') && html`Change this one in the
        <a href="${link('/account/shop')}">shop settings</a>.`}</p>`,
  })}
    ${lowCount > low.length && html`<p><a class="button" href="${link('/products?stock=low')}">
      View all low or sold-out products</a></p>`}
  </section>`;
}
