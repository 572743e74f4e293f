/** Many products: a page of them, or all that match as one stream. */
import type { KeysetAnchor } from '../../domain/catalogue/product-query.ts';
import { formatEntityTag, isNoneMatch } from '../../http/response/conditional.ts';
import type { Reply } from '../../http/response/reply.ts';
import type { ProductPage } from '../../store/catalogue-store.ts';
import { JSON_TYPE, MEDIA_TYPE_OF } from '../media-types.ts';
import { rejectPagingParameters, formatNextLink } from '../query-reader.ts';
import { PRODUCTS } from '../paths.ts';
import { exportProducts, formatterOf, LIST_FIELDS } from './product-export.ts';
import { formatNextCursor, cursorScope, readProductPage } from './product-pages.ts';
import { type ListQuery, parseListQuery } from './product-query.ts';
import type { ApiRequest, Services } from '../route.ts';

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
  const name = cursorScope(sellerId, list);
  const cursor = call.query.get('cursor');
  const after = services.cursors.parse<KeysetAnchor>(name, cursor);
  const tag = formatEntityTag(position);
  if (isNoneMatch(call.headers['if-none-match'], tag)) {
    return { status: 304, headers: { ...LIST_FIELDS, etag: tag } };
  }
  const shape = `${list.limit} ${list.fields?.join() ?? ''} ${list.format ?? ''}`;
  const key = `${name} ${shape} ${cursor ?? ''}`;
  const cached = services.pages.find(key, position);
  if (cached) return cached;
  const page = await readProductPage(services.store, call.caller, list, after);
  const next = formatNextCursor(services.cursors, name, list, page);
  const reply = formatPage(call, services, list, page, next);
  services.pages.set(key, page.position, reply);
  return reply;
}

function formatPage(
  call: ApiRequest, { prefix }: Services, list: ListQuery, page: ProductPage,
  cursor: string | undefined,
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
