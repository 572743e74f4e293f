/**
 * Many products: a page of a list, or all products of a list as one stream. The portal lists and
 * exports products by the same functions.
 */
import type { Caller } from '../../domain/access/caller.ts';
import {
  type Product, PRODUCT_FIELDS, selectFields,
} from '../../domain/catalogue/product-fields.ts';
import { anchorOf, type KeysetAnchor } from '../../domain/catalogue/product-query.ts';
import { createProductFormatter, formatProduct } from '../../domain/catalogue/product.ts';
import type { SellerId } from '../../domain/id.ts';
import type { Cursors } from '../../http/cursor.ts';
import { formatEntityTag, isNoneMatch } from '../../http/response/conditional.ts';
import type { Reply } from '../../http/response/reply.ts';
import type { CatalogueStore, ProductPage } from '../../store/catalogue-store.ts';
import type { SearchStore } from '../../store/search-store.ts';
import { formatCsvProduct } from '../../transfer/csv-cells.ts';
import { exportCollection } from '../export.ts';
import { JSON_TYPE, MEDIA_TYPE_OF } from '../media-types.ts';
import { formatNextLink, rejectPagingParameters } from '../query-reader.ts';
import { type ListQuery, parseListQuery } from './product-query.ts';
import { type ApiRequest, PRODUCTS, type Services } from '../route.ts';
import type { OpenStream } from '../streams.ts';

/** Only the seller's client may cache the response, and revalidates it each time. */
const LIST_HEADERS = { 'cache-control': 'private, no-cache', vary: 'accept, accept-encoding' };

/** GET /api/v1/products: 200, 304, 400, 406, 503 */
export async function listProducts(call: ApiRequest, services: Services): Promise<Reply> {
  const list = parseListQuery(call.query, call.caller.currency);
  const mediaType = list.format ? MEDIA_TYPE_OF[list.format] : call.mediaType;
  if (mediaType === JSON_TYPE) return listPage(call, services, list);
  rejectPagingParameters(call.query);
  const { caller, openStream } = call;
  return exportProducts(services.store, { caller, list, mediaType, openStream });
}

async function listPage(call: ApiRequest, services: Services, list: ListQuery): Promise<Reply> {
  const { sellerId, position } = call.caller;
  const scope = cursorScope(sellerId, list);
  const cursor = call.query.get('cursor');
  const after = services.cursors.parse<KeysetAnchor>(scope, cursor);
  const tag = formatEntityTag(position);
  if (isNoneMatch(call.headers['if-none-match'], tag)) {
    return { status: 304, headers: { ...LIST_HEADERS, etag: tag } };
  }
  const shape = `${list.limit} ${list.fields?.join() ?? ''} ${list.format ?? ''}`;
  const key = `${scope} ${shape} ${cursor ?? ''}`;
  const cached = services.pages.find(key, position);
  if (cached) return cached;
  const page = await readProductPage(services.store, call.caller, list, after);
  const next = formatNextCursor(services.cursors, scope, list, page);
  const reply = formatPage(call, services, list, page, next);
  services.pages.set(key, page.position, reply);
  return reply;
}

function formatPage(
  call: ApiRequest, { prefix }: Services, list: ListQuery, page: ProductPage,
  cursor: string | undefined,
): Reply {
  const format = createFormatter(list);
  const items = page.products.map(format).join(',');
  const next = JSON.stringify(cursor ?? null);
  const body = Buffer.from(`{"products":[${items}],"next_cursor":${next}}`);
  return {
    status: 200,
    headers: {
      ...LIST_HEADERS,
      'content-type': JSON_TYPE,
      etag: formatEntityTag(page.position),
      ...formatNextLink(`${prefix}${PRODUCTS}`, call.query, list.limit, cursor),
    },
    body,
  };
}

interface ExportOptions {
  readonly caller: Pick<Caller, 'sellerId' | 'position'>;
  readonly list: ListQuery;
  readonly mediaType: string;
  readonly openStream: OpenStream;
}

/** Streams all products of a list as CSV or NDJSON. @throws AppError `unavailable` */
export function exportProducts(
  store: SearchStore, { caller, list, mediaType, openStream }: ExportOptions,
): Promise<Reply> {
  const fields = list.fields ? selectFields(list.fields) : PRODUCT_FIELDS;
  const format = {
    columns: fields.map(({ name }) => name),
    formatRow: (product: Product) => formatCsvProduct(product, fields),
    formatJson: createFormatter(list),
  };
  return exportCollection({ openStream, mediaType, format, headers: LIST_HEADERS }, () =>
    store.exportProducts(caller.sellerId, list, caller.position));
}

function createFormatter({ fields }: ListQuery): (product: Product) => string {
  return fields ? createProductFormatter(selectFields(fields)) : formatProduct;
}

/** What a cursor is bound to: the filter and the sort. */
export function cursorScope(sellerId: SellerId, { isPlain, filter, sort }: ListQuery): string {
  return `products ${sellerId} ${isPlain ? 'by id' : JSON.stringify([filter, sort])}`;
}

/** Reads the plain list from the catalogue; lists with a filter or a sort, from the projection. */
export function readProductPage(
  store: CatalogueStore & SearchStore,
  { sellerId, position }: Pick<Caller, 'sellerId' | 'position'>,
  { isPlain, filter, sort, limit }: ListQuery, after: KeysetAnchor | undefined,
): Promise<ProductPage> {
  if (isPlain) return store.listProducts(sellerId, { after: after?.id, limit });
  return store.searchProducts(sellerId, { filter, sort, after, limit }, position);
}

/** Undefined on the last page. */
export function formatNextCursor(
  cursors: Cursors, scope: string, { sort }: ListQuery, { hasMore, products }: ProductPage,
): string | undefined {
  const last = hasMore ? products.at(-1) : undefined;
  return cursors.format(scope, last && anchorOf(last, sort));
}
