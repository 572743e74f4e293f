/** All products that a list finds, as one stream of CSV or of lines of JSON. */
import type { Caller } from '../../domain/access/caller.ts';
import {
  type Product, PRODUCT_FIELDS, type ProductFieldName, selectFields,
} from '../../domain/catalogue/product-fields.ts';
import { createProductFormatter, formatProduct } from '../../domain/catalogue/product.ts';
import type { Reply } from '../../http/response/reply.ts';
import type { SearchStore } from '../../store/search-store.ts';
import { formatCsvProduct } from '../../transfer/csv-cells.ts';
import { exportCollection } from '../export.ts';
import type { ListQuery } from './product-query.ts';
import type { OpenStream } from '../streams.ts';

/** Only the seller may keep the answer, and asks each time whether it still holds. */
export const LIST_FIELDS = {
  'cache-control': 'private, no-cache', vary: 'accept, accept-encoding',
};

interface ProductsOptions {
  readonly caller: Pick<Caller, 'sellerId' | 'position'>;
  readonly list: ListQuery;
  readonly mediaType: string;
  readonly openStream: OpenStream;
}

/** @throws AppError `unavailable` */
export function exportProducts(
  store: SearchStore, { caller, list, mediaType, openStream }: ProductsOptions,
): Promise<Reply> {
  const fields = list.fields ? selectFields(list.fields) : PRODUCT_FIELDS;
  const format = {
    columns: fields.map(({ name }) => name),
    formatRow: (product: Product) => formatCsvProduct(product, fields),
    formatJson: formatterOf(list.fields),
  };
  return exportCollection({ openStream, mediaType, format, headers: LIST_FIELDS }, () =>
    store.exportProducts(caller.sellerId, list, caller.position));
}

/** Writes products as JSON: whole, or these members of them. */
export function formatterOf(
  fields: readonly ProductFieldName[] | undefined,
): (product: Product) => string {
  return fields ? createProductFormatter(selectFields(fields)) : formatProduct;
}
