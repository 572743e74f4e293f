/** Filters that the changes and the stock movements have in common: dates, product, import. */
import { findSku } from '../../../domain/catalogue/product.ts';
import { type ImportId, type KeyId, parseImportId, parseProductId } from '../../../domain/id.ts';
import type { MovementFilter } from '../../../store/history-store.ts';
import { DATE_FIELDS, readTimeRange } from '../forms/date-range.ts';
import type { Field } from '../forms/fields.ts';
import type { Form } from '../forms/form.ts';
import { html, type Html } from '../html/html.ts';
import { findKeyId } from '../keys/key-facts.ts';
import { findRecords, renderLink } from '../records/import-record.ts';
import type { PageRequest, Portal } from '../route.ts';

export const HISTORY_FIELDS: readonly Field[] = [
  ...DATE_FIELDS,
  { name: 'product', label: 'Product', hint: 'SKU or product ID' },
  { name: 'import', label: 'Import', hint: 'Import ID' },
  { name: 'key', label: 'API key', hint: 'Key ID' },
];

/** Matches nothing: an id that is not the seller's has no changes. */
const NO_IMPORT = 0 as ImportId;
const NO_KEY = 0 as KeyId;

/** The filter without its invalid conditions, whose errors are added. */
export function readHistoryFilter(
  request: PageRequest, form: Form, errors: Map<string, string>,
): Pick<MovementFilter, 'productId' | 'sku' | 'importId' | 'keyId' | 'since' | 'until'> {
  const { account: { sellerId, timeZone } } = request;
  const [product, importText] = [form.get('product'), form.get('import')];
  const productId = parseProductId(sellerId, product);
  const sku = productId === undefined ? findSku(product) : undefined;
  if (product !== '' && productId === undefined && sku === undefined) {
    errors.set('product', 'Must be a SKU or a product ID.');
  }
  const importId = importText === '' ? undefined
    : parseImportId(sellerId, importText) ?? NO_IMPORT;
  const key = form.get('key');
  const keyId = key === '' ? undefined : findKeyId(request, key) ?? NO_KEY;
  return { productId, sku, importId, keyId, ...readTimeRange(form, timeZone, errors) };
}

/** Names the import that a filter selects. @param noun Such as `Changes`. */
export async function renderFilteredImport(
  request: PageRequest, portal: Portal, { importId }: MovementFilter, noun: string,
): Promise<Html | undefined> {
  if (importId === undefined) return undefined;
  const record = (await findRecords(request, portal, [importId])).get(importId);
  return record && html`<p>${noun} of ${renderLink(request, record)}</p>`;
}
