/** Exports all products, or the products that match a search, in the API's export formats. */
import { CSV_TYPE, NDJSON_TYPE } from '../../../api/media-types.ts';
import { exportProducts, withArchived } from '../../../api/products/product-list.ts';
import { AppError } from '../../../domain/error.ts';
import { formatAttachment, type Reply } from '../../../http/response/reply.ts';
import { formatDay } from '../forms/date-range.ts';
import { type Choice, renderFields } from '../forms/fields.ts';
import { FILTER_FORM } from '../forms/filter.ts';
import type { FieldErrors } from '../forms/form.ts';
import { card } from '../html/elements.ts';
import { html, type Html } from '../html/html.ts';
import { readSearch } from './product-search.ts';
import type { PageRequest, Portal, Show } from '../route.ts';

const FORMATS: readonly Choice[] = [
  { value: 'csv', label: 'CSV, for spreadsheets' },
  { value: 'ndjson', label: 'NDJSON, for programs' },
];

/** GET /portal/export: 200, 400, 503 */
export const exportFile: Show = async (request, portal) => {
  const { query, account: { sellerId }, position, generation, openStream } = request;
  const { list: listQuery, state: { errors } } = readSearch(request, portal);
  const list = query.has('archived') ? listQuery : withArchived(listQuery);
  return replyExport(portal, 'products', query, errors, (mediaType) => {
    const caller = { sellerId, position, generation };
    return exportProducts(portal.store, { caller, list, mediaType, openStream });
  });
};

/**
 * An export as a file, named after what it contains and the day. @param query Has the format.
 * @throws AppError `invalid_query` if the filters have errors
 */
export async function replyExport(
  { clock }: Pick<Portal, 'clock'>, name: string, query: PageRequest['query'],
  errors: FieldErrors, open: (mediaType: string) => Promise<Reply>,
): Promise<Reply> {
  if (errors.size > 0) {
    const issues = [...errors].map(([parameter, detail]) =>
      ({ parameter, code: 'format', detail } as const));
    throw new AppError('invalid_query', 'The export filters are invalid.', { issues });
  }
  const format = query.get('format') === 'ndjson' ? 'ndjson' : 'csv';
  const reply = await open(format === 'csv' ? CSV_TYPE : NDJSON_TYPE);
  const disposition = formatAttachment(`${name}-${formatDay(clock())}.${format}`);
  return { ...reply, headers: { ...reply.headers, 'content-disposition': disposition } };
}

export function renderExport({ link }: PageRequest): Html {
  return card('export', 'Export products', html`
    <form method="get" action="${link('/export')}" class="stack">
      <p>Exports all products as they are now. To export a selection, filter your
        <a href="${link('/products')}">products</a> first.</p>
      ${renderFields([{ name: 'format', label: 'Format', control: 'select', choices: FORMATS }])}
      <button>Export</button>
    </form>`);
}

/** Buttons that submit the search form to the export, so the search is not repeated in links. */
export function renderExportButtons({ link }: PageRequest, path = '/export'): Html {
  const button = (format: string, label: string): Html => html`<button class="small"
    form="${FILTER_FORM}" formaction="${link(path)}" name="format" value="${format}">${
  label}</button>`;
  return html`<p class="actions"><span class="quiet">Export these:</span>
    ${button('csv', 'CSV')} ${button('ndjson', 'NDJSON')}</p>`;
}
