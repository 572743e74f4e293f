/** The export: all products, or those of a search, as a file in the form of the API's exports. */
import { CSV_TYPE, NDJSON_TYPE } from '../../api/media-types.ts';
import { exportProducts } from '../../api/product-export.ts';
import { AppError } from '../../domain/error.ts';
import { formatAttachment } from '../../http/attachment.ts';
import type { Reply } from '../../http/reply.ts';
import { type Choice, selectField } from '../fields.ts';
import { html, type Html } from '../html.ts';
import { type ProductSearch, readSearch } from '../products/product-search.ts';
import type { Portal, Visit } from '../route.ts';

const FORMATS: readonly Choice[] = [
  { value: 'csv', label: 'CSV, for spreadsheets' },
  { value: 'ndjson', label: 'Lines of JSON (NDJSON), for programs' },
];

/** GET /portal/export: 200, 400, 503 */
export async function exportFile(visit: Visit, portal: Portal): Promise<Reply> {
  const { query, account: { sellerId }, position } = visit;
  const { list, faults } = readSearch(visit, portal);
  if (faults.size > 0) {
    const issues = [...faults].map(([parameter, detail]) =>
      ({ parameter, code: 'format', detail } as const));
    throw new AppError('invalid_query', 'What to export could not be understood.', { issues });
  }
  const format = query.get('format') === 'ndjson' ? 'ndjson' : 'csv';
  const mediaType = format === 'csv' ? CSV_TYPE : NDJSON_TYPE;
  const reply = await exportProducts(portal.store, { sellerId, position }, list, mediaType);
  const day = new Date(portal.clock()).toISOString().slice(0, 10);
  const disposition = formatAttachment(`products-${day}.${format}`);
  return { ...reply, headers: { ...reply.headers, 'content-disposition': disposition } };
}

export function renderExport({ link }: Visit): Html {
  return html`<section class="card" aria-labelledby="export"><h2 id="export">Export products</h2>
    <form method="get" action="${link('/export')}" class="stack">
      <p>All products, as they stand at one moment. To export some of them, search for them among
        the <a href="${link('/products')}">products</a>.</p>
      ${selectField({ name: 'format', label: 'Form of the file', choices: FORMATS })}
      <button>Export</button>
    </form>
  </section>`;
}

/** Of what a search finds: what could not be understood is left out here as it is there. */
export function renderExportLinks({ link }: Visit, { typed, faults }: ProductSearch): Html {
  const sound = [...typed].filter(([field]) => !faults.has(field));
  const href = (format: string): string =>
    link(`/export?${new URLSearchParams([...sound, ['format', format]])}`);
  return html`<p class="quiet">Export these: <a href="${href('csv')}" download>CSV</a>,
    <a href="${href('ndjson')}" download>NDJSON</a></p>`;
}
