/** Products: create, list, read. */
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_LIMIT } from '../config.ts';
import { AppError } from '../domain/error.ts';
import { formatProductId, parseProductId, type ProductId } from '../domain/id.ts';
import { formatProduct, parseNewProduct, type Product } from '../domain/product.ts';
import { formatEntityTag, isNoneMatch } from '../http/conditional.ts';
import { invalidQuery, type Query } from '../http/query.ts';
import type { Reply } from '../http/reply.ts';
import type { Call, Services } from './route.ts';

/** The address of all products of the caller. */
export const PRODUCTS = '/api/v1/products';
const JSON_TYPE = 'application/json';
/** Only the seller may keep the answer, and asks each time whether it still holds. */
const REVALIDATE = 'private, no-cache';

/** POST /api/v1/products: 201, 400, 409 */
export async function createProduct(call: Call, { store, prefix }: Services): Promise<Reply> {
  const { caller } = call;
  const product = parseNewProduct(await call.readJson(), caller.currency);
  const created = await store.createProduct(caller, product);
  return {
    status: 201,
    headers: {
      'content-type': JSON_TYPE,
      'cache-control': 'no-store',
      location: `${prefix}${PRODUCTS}/${formatProductId(caller.sellerId, created.id)}`,
      etag: formatEntityTag(created.position),
    },
    body: created.json,
  };
}

/** GET /api/v1/products/{id}: 200, 304, 404 */
export async function readProduct(call: Call, { store }: Services): Promise<Reply> {
  const { sellerId } = call.caller;
  const id = parseProductId(sellerId, call.parameters['id'] ?? '');
  const product = id && await store.findProduct(sellerId, id);
  if (!product) throw new AppError('not_found', 'You have no product with this id.');
  const headers = { 'cache-control': REVALIDATE, etag: formatEntityTag(product.position) };
  if (isNoneMatch(call.headers['if-none-match'], headers.etag)) return { status: 304, headers };
  const body = formatProduct(product);
  return { status: 200, headers: { ...headers, 'content-type': JSON_TYPE }, body };
}

/** GET /api/v1/products: 200, 304, 400 */
export async function listProducts(call: Call, services: Services): Promise<Reply> {
  const { sellerId, position } = call.caller;
  const limit = parseLimit(call.query);
  const list = `products ${sellerId} by id`;
  const cursor = call.query.get('cursor');
  // The cast: what we have signed for this seller's list is an id of his products.
  const after = cursor === undefined
    ? undefined : Number(services.cursors.parse(list, cursor)) as ProductId;
  const tag = formatEntityTag(position);
  if (isNoneMatch(call.headers['if-none-match'], tag)) {
    return { status: 304, headers: { 'cache-control': REVALIDATE, etag: tag } };
  }
  const key = `${list} ${limit} ${after ?? ''}`;
  const cached = services.pages.find(key, position);
  if (cached) return cached;
  const page = await services.store.listProducts(sellerId, { after, limit });
  const last = page.hasMore ? page.products.at(-1) : undefined;
  const nextCursor = last && services.cursors.format(list, String(last.id));
  const reply = formatPage(page.products, page.position, nextCursor);
  if (nextCursor !== undefined) {
    const next = `${services.prefix}${PRODUCTS}?limit=${limit}&cursor=${nextCursor}`;
    reply.headers['link'] = `<${next}>; rel="next"`;
  }
  services.pages.keep(key, page.position, reply);
  return reply;
}

function formatPage(
  products: readonly Product[], position: number, nextCursor: string | undefined,
) {
  const items = products.map(formatProduct).join(',');
  const headers: Record<string, string> = {
    'content-type': JSON_TYPE,
    'cache-control': REVALIDATE,
    etag: formatEntityTag(position),
  };
  const next = JSON.stringify(nextCursor ?? null);
  const body = Buffer.from(`{"products":[${items}],"next_cursor":${next}}`);
  return { status: 200, headers, body };
}

function parseLimit(query: Query): number {
  const text = query.get('limit');
  if (text === undefined) return PAGE_SIZE_DEFAULT;
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : NaN;
  if (limit >= 1 && limit <= PAGE_SIZE_LIMIT) return limit;
  const detail = `Must be a whole number from 1 to ${PAGE_SIZE_LIMIT}.`;
  throw invalidQuery([{ parameter: 'limit', code: 'range', detail }]);
}
