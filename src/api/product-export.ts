/** All products that a list finds, as one stream of CSV or of lines of JSON. */
import type { Caller } from '../domain/caller.ts';
import { formatFields, type ProductField, PRODUCT_FIELDS } from '../domain/product-fields.ts';
import { formatProduct, type Product } from '../domain/product.ts';
import type { Reply } from '../http/reply.ts';
import type { ProductExport, Store } from '../store/store.ts';
import { formatCsvHeader, formatCsvProduct } from '../transfer/csv-writer.ts';
import { watchPermission } from '../transfer/permission.ts';
import { CSV_TYPE } from './media-types.ts';
import type { ListQuery } from './product-query.ts';

/** Only the seller may keep the answer, and asks each time whether it still holds. */
export const LIST_FIELDS = {
  'cache-control': 'private, no-cache', vary: 'accept, accept-encoding',
};

/** Whose products, and whether they may go on to be told. */
interface Exporter extends Pick<Caller, 'sellerId' | 'position'> {
  readonly assertAllowed: () => Promise<void>;
}

/** All products of a list, as CSV or as lines of JSON. @throws AppError `unavailable` */
export async function exportProducts(
  store: Store, { sellerId, position, assertAllowed }: Exporter, list: ListQuery, mediaType: string,
): Promise<Reply> {
  const found = await store.exportProducts(sellerId, list.filter, list.sort, position);
  const isCsv = mediaType === CSV_TYPE;
  const fields = list.fields ?? PRODUCT_FIELDS;
  const formatLine = formatterOf(list.fields);
  const source = { ...found, askAgain: watchPermission(assertAllowed) };
  return {
    status: 200,
    headers: {
      ...LIST_FIELDS,
      'content-type': isCsv ? `${mediaType}; charset=utf-8` : mediaType,
      'seller-position': String(found.position),
    },
    body: isCsv
      ? render(source, formatCsvHeader(fields), (product) => formatCsvProduct(product, fields))
      : render(source, '', (product) => `${formatLine(product)}\n`),
  };
}

/**
 * The text of an export, page by page. Not a generator: one that is returned before it has begun
 * returns nothing itself, and the snapshot behind the pages has to end whatever happens.
 */
function render(
  { pages, askAgain }: Pick<ProductExport, 'pages'> & { readonly askAgain: () => Promise<void> },
  head: string, format: (product: Product) => string,
): AsyncIterableIterator<string> {
  let isBegun = head === '';
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      if (!isBegun) {
        isBegun = true;
        return { done: false, value: head };
      }
      try {
        await askAgain();
      } catch (error) {
        await pages.return(); // nobody returns what has failed
        throw error;
      }
      const { done, value } = await pages.next();
      return done ? { done, value } : { done: false, value: value.map(format).join('') };
    },
    async return() {
      await pages.return();
      return { done: true, value: undefined };
    },
  };
}

/** Writes products as JSON: whole, or these members of them. */
export function formatterOf(
  fields: readonly ProductField[] | undefined,
): (product: Product) => string {
  return fields ? (product) => formatFields(product, fields) : formatProduct;
}
