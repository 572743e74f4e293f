/** The export: all products, or those that a filter finds, as a file in the form of the API's. */
import { CSV_TYPE, NDJSON_TYPE } from '../../api/media-types.ts';
import { exportProducts } from '../../api/product-export.ts';
import { parseListQuery } from '../../api/product-query.ts';
import { formatAttachment } from '../../http/attachment.ts';
import type { Reply } from '../../http/reply.ts';
import { type Choice, selectField, textField } from '../fields.ts';
import { html, type Html } from '../html.ts';
import type { Portal, Visit } from '../route.ts';

/** As of the list of the API. */
const FILTERS = [
  'q', 'category', 'sku', 'price_min', 'price_max', 'stock_min', 'stock_max', 'sort',
] as const;

const FORMATS: readonly Choice[] = [
  { value: 'csv', label: 'CSV, for spreadsheets' },
  { value: 'ndjson', label: 'Lines of JSON (NDJSON), for programs' },
];

/** GET /portal/export: 200, 400, 503 */
export async function exportFile(visit: Visit, { store, clock }: Portal): Promise<Reply> {
  const { query, account, position } = visit;
  const filters = FILTERS.flatMap((name) => {
    const text = (query.get(name) ?? '').trim();
    // Some write 12,50 for 12.50.
    return text === '' ? [] : [[name, name.startsWith('price') ? text.replace(',', '.') : text]];
  });
  // The cast: each is made as a pair, above.
  const list = parseListQuery(new Map(filters as [string, string][]), account.currency);
  const format = query.get('format') === 'ndjson' ? 'ndjson' : 'csv';
  const mediaType = format === 'csv' ? CSV_TYPE : NDJSON_TYPE;
  const { sellerId } = account;
  const reply = await exportProducts(store, { sellerId, position }, list, mediaType);
  const day = new Date(clock()).toISOString().slice(0, 10);
  const disposition = formatAttachment(`products-${day}.${format}`);
  return { ...reply, headers: { ...reply.headers, 'content-disposition': disposition } };
}

export function renderExport({ link, account }: Visit): Html {
  const { code } = account.currency;
  return html`<section class="card" aria-labelledby="export"><h2 id="export">Export products</h2>
    <form method="get" action="${link('/export')}" class="stack">
      <p>All products, as they stand at one moment; or only some of them:</p>
      <div class="columns">
        ${textField({
    name: 'q', label: 'With this text', type: 'search', hint: 'In the name, SKU or category',
  })}
        ${textField({ name: 'category', label: 'In the category', hint: 'Exactly this one' })}
        ${textField({ name: 'price_min', label: `Price from (${code})`, inputMode: 'decimal' })}
        ${textField({ name: 'price_max', label: `Price to (${code})`, inputMode: 'decimal' })}
        ${textField({ name: 'stock_min', label: 'Stock from', inputMode: 'numeric' })}
        ${textField({ name: 'stock_max', label: 'Stock to', inputMode: 'numeric' })}
      </div>
      ${selectField({ name: 'format', label: 'Form of the file', choices: FORMATS })}
      <button>Export</button>
    </form>
  </section>`;
}
