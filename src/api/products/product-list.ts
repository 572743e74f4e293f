/** Lists products as pages, or exports them as one stream. The portal uses the same functions. */
import type { Caller } from '../../domain/access/caller.ts';
import {
  type Product, PRODUCT_FIELDS, selectFields,
} from '../../domain/catalogue/product-fields.ts';
import { anchorOf, type KeysetAnchor } from '../../domain/catalogue/product-query.ts';
import { createProductFormatter, formatProduct } from '../../domain/catalogue/product.ts';
import type { SellerId } from '../../domain/id.ts';
import { toRevision } from '../../domain/revision.ts';
import { formatEntityTag, isNoneMatch } from '../../http/response/conditional.ts';
import type { Reply } from '../../http/response/reply.ts';
import type { CatalogueStore, ProductPage } from '../../store/catalogue-store.ts';
import type { SearchStore } from '../../store/search-store.ts';
import { formatCsvProduct } from '../../transfer/csv-cells.ts';
import { chooseMediaType, exportCollection, formatItems, replyPage } from '../list.ts';
import { JSON_TYPE } from '../media-types.ts';
import { replyPastList } from './past-list.ts';
import { type ListQuery, parseListQuery } from './product-query.ts';
import { type ApiRequest, PRODUCTS, type Services } from '../route.ts';
import type { OpenStream } from '../streams.ts';

/** Only the seller's client may cache the response, and revalidates it each time. */
const LIST_HEADERS = { 'cache-control': 'private, no-cache', vary: 'accept, accept-encoding' };

/** GET /api/v1/products: 200, 304, 400, 406, 410, 503 */
export function listProducts(call: ApiRequest, services: Services): Reply | Promise<Reply> {
  const { caller } = call;
  const list = parseListQuery(call.query, caller);
  const mediaType = chooseMediaType(call, list.format);
  if (list.moment) return listPast(call, services, list, mediaType);
  return mediaType === JSON_TYPE
    ? listPage(call, services, list)
    : exportProducts(services.store, {
      caller, mediaType, openStream: call.openStream,
      list: call.query.has('archived') ? list : withArchived(list),
    });
}

/** The same list with archived products: an export is complete unless it is filtered. */
export function withArchived(list: ListQuery): ListQuery {
  return { ...list, filter: { ...list.filter, archived: 'any' } };
}

function listPage(call: ApiRequest, services: Services, list: ListQuery): Reply | Promise<Reply> {
  const { sellerId, position, generation } = call.caller;
  const { store, cursors, pages } = services;
  const { limit, fields, format } = list;
  const scope = cursorScope(sellerId, list);
  const cursor = call.query.get('cursor');
  const after = cursors.parse<KeysetAnchor>(scope, cursor);
  const tag = formatEntityTag(toRevision(generation, position));
  if (isNoneMatch(call.headers['if-none-match'], tag)) {
    return { status: 304, headers: { ...LIST_HEADERS, etag: tag } };
  }
  const key = [scope, limit, fields?.join(), format, cursor, call.prefix].join(' ');
  const render = async (): Promise<Reply> => {
    const page = await readProductPage(store, call.caller, list, after);
    const { texts, last } = formatItems(page.products, createFormatter(list), page.hasMore);
    const reply = replyPage(call, {
      path: PRODUCTS, limit,
      members: `"products":[${texts.join(',')}]`,
      nextCursor: cursors.format(scope, last && anchorOf(last, list.sort)),
      headers: { ...LIST_HEADERS, etag: formatEntityTag(toRevision(generation, page.position)) },
    });
    pages.set(key, page.position, reply);
    return reply;
  };
  return pages.find(key, position) ?? render();
}

/** The products at an earlier position, which do not change: the position is the tag. */
async function listPast(
  call: ApiRequest, services: Services, list: ListQuery, mediaType: string,
): Promise<Reply> {
  const { moment, limit } = list;
  const reply = await replyPastList<Product>(call, services, {
    ...describeExport(list, mediaType), path: PRODUCTS, kind: 'products at', moment, limit,
    formatMembers: (products) => `"products":[${products}]`,
    makeHeaders: (revision) => (
      { etag: formatEntityTag(revision), 'seller-position': String(revision) }),
    async read(position, query) {
      const { sellerId } = call.caller;
      const { products, hasMore } = await services.store.listProductsAt(sellerId, position, query);
      return { items: products, hasMore };
    },
  });
  const { etag } = reply.headers;
  if (etag === undefined || !isNoneMatch(call.headers['if-none-match'], etag)) return reply;
  return { status: 304, headers: { ...LIST_HEADERS, etag } };
}

interface ExportOptions {
  readonly caller: Pick<Caller, 'sellerId' | 'position' | 'generation'>;
  readonly list: ListQuery;
  readonly mediaType: string;
  readonly openStream: OpenStream;
}

/** Streams all products of a list as CSV or NDJSON. @throws AppError `unavailable` */
export function exportProducts(
  store: SearchStore, { caller, list, mediaType, openStream }: ExportOptions,
): Promise<Reply> {
  return exportCollection({
    ...describeExport(list, mediaType), openStream, generation: caller.generation,
    open: () => store.exportProducts(caller.sellerId, list, caller.position),
  });
}

function describeExport(list: ListQuery, mediaType: string) {
  const fields = list.fields ? selectFields(list.fields) : PRODUCT_FIELDS;
  return {
    mediaType,
    headers: LIST_HEADERS,
    columns: fields.map(({ name }) => name),
    formatRow: (product: Product) => formatCsvProduct(product, fields),
    formatJson: createFormatter(list),
  };
}

/** Formats products with these members, or all. */
export function createFormatter(
  { fields }: Pick<ListQuery, 'fields'>,
): (product: Product) => string {
  return fields ? createProductFormatter(selectFields(fields)) : formatProduct;
}

/** What a cursor is bound to: the filter and the sort. Signed, so it must never change. */
export function cursorScope(sellerId: SellerId, { isPlain, filter, sort }: ListQuery): string {
  const isWhole = isPlain && filter.archived === undefined;
  return `products ${sellerId} ${isWhole ? 'by id' : JSON.stringify([filter, sort])}`;
}

/** Reads the plain list from the catalogue; lists with a filter or a sort, from the projection. */
export function readProductPage(
  store: CatalogueStore & SearchStore,
  { sellerId, position }: Pick<Caller, 'sellerId' | 'position'>,
  { isPlain, filter, sort, limit }: ListQuery, after: KeysetAnchor | undefined,
): Promise<ProductPage> {
  const { archived } = filter;
  if (isPlain) return store.listProducts(sellerId, { after: after?.id, limit, archived });
  return store.searchProducts(sellerId, { filter, sort, after, limit }, position);
}
