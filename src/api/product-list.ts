/**
 * Many products: a page of them, or all that match as one stream. The plain list comes from the
 * catalogue itself, everything that filters, sorts or exports from its projection.
 */
import type { Product } from '../domain/product.ts';
import { foldText, type Place, type ProductSort } from '../domain/product-query.ts';
import { formatEntityTag, isNoneMatch } from '../http/conditional.ts';
import type { Reply } from '../http/reply.ts';
import type { ProductPage } from '../store/store.ts';
import { JSON_TYPE, MEDIA_TYPE_OF } from './media-types.ts';
import { assertWhole, formatNextLink } from './list-pages.ts';
import { PRODUCTS } from './paths.ts';
import { exportProducts, formatterOf, LIST_FIELDS } from './product-export.ts';
import { type ListQuery, parseListQuery } from './product-query.ts';
import type { Call, Services } from './route.ts';

/** GET /api/v1/products: 200, 304, 400, 406, 503 */
export async function listProducts(call: Call, services: Services): Promise<Reply> {
  const list = parseListQuery(call.query, call.caller.currency);
  const mediaType = list.format ? MEDIA_TYPE_OF[list.format] : call.mediaType;
  if (mediaType === JSON_TYPE) return listPage(call, services, list);
  assertWhole(call.query);
  return exportProducts(services.store, call.caller, list, mediaType);
}

async function listPage(call: Call, services: Services, list: ListQuery): Promise<Reply> {
  const { sellerId, position } = call.caller;
  const name = `products ${sellerId} ${list.isPlain ? 'by id' : describe(list)}`;
  const cursor = call.query.get('cursor');
  // The cast: what we have signed for this list is a place in it.
  const after = cursor === undefined
    ? undefined : JSON.parse(services.cursors.parse(name, cursor)) as Place;
  const tag = formatEntityTag(position);
  if (isNoneMatch(call.headers['if-none-match'], tag)) {
    return { status: 304, headers: { ...LIST_FIELDS, etag: tag } };
  }
  const shape = `${list.limit} ${list.fields?.join() ?? ''} ${list.format ?? ''}`;
  const key = `${name} ${shape} ${cursor ?? ''}`;
  const cached = services.pages.find(key, position);
  if (cached) return cached;
  const page = await readPage(call, services, list, after);
  const last = page.hasMore ? page.products.at(-1) : undefined;
  const next = last && services.cursors.format(name, JSON.stringify(placeOf(last, list.sort)));
  const reply = formatPage(call, services, list, page, next);
  services.pages.keep(key, page.position, reply);
  return reply;
}

function readPage(
  { caller }: Call, { store }: Services, list: ListQuery, after: Place | undefined,
): Promise<ProductPage> {
  const { sellerId, position } = caller;
  const { filter, sort, limit } = list;
  if (list.isPlain) return store.listProducts(sellerId, { after: after?.id, limit });
  return store.searchProducts(sellerId, { filter, sort, after, limit }, position);
}

function formatPage(
  call: Call, { prefix }: Services, list: ListQuery, page: ProductPage, cursor: string | undefined,
): Reply {
  const format = formatterOf(list.fields);
  const items = page.products.map(format).join(',');
  const next = JSON.stringify(cursor ?? null);
  const body = Buffer.from(`{"products":[${items}],"next_cursor":${next}}`);
  return {
    status: 200,
    headers: {
      ...LIST_FIELDS,
      'content-type': JSON_TYPE,
      etag: formatEntityTag(page.position),
      ...formatNextLink(`${prefix}${PRODUCTS}`, call.query, list.limit, cursor),
    },
    body,
  };
}

/** All that a cursor is bound to: the same conditions in the same order. */
function describe({ filter, sort }: ListQuery): string {
  return JSON.stringify([filter, sort]);
}

function placeOf(product: Product, { by }: ProductSort): Place {
  return { key: readKey(product, by), id: product.id };
}

function readKey(product: Product, by: ProductSort['by']): string | number {
  switch (by) {
    case 'id': return product.id;
    case 'name': return foldText(product.name);
    case 'sku': return product.sku;
    case 'price': return product.priceMinor;
    case 'stock': return product.stock;
    case 'updated_at': return product.updatedAt;
  }
}
