/** Handlers that create, read, put, patch and delete one product, by id or by SKU. */
import { types } from 'node:util';
import { AppError } from '../../domain/error.ts';
import { formatProductId, parseProductId } from '../../domain/id.ts';
import {
  findOtherMember, findSku, parseNewProduct, parseProductPatch, parseReplacement,
  type ProductTarget,
} from '../../domain/catalogue/product.ts';
import type { Product } from '../../domain/catalogue/product-fields.ts';
import { toRevision } from '../../domain/revision.ts';
import {
  assertMatch, formatEntityTag, isNoneMatch, readPrecondition,
} from '../../http/response/conditional.ts';
import type { Reply } from '../../http/response/reply.ts';
import type { WrittenProduct } from '../../store/catalogue-store.ts';
import { authorize } from '../authenticate.ts';
import { JSON_TYPE } from '../media-types.ts';
import { type Moment, parseParameters } from '../parameters.ts';
import { type ApiRequest, PRODUCTS, type Services } from '../route.ts';
import { replayHeader, toWriteContext } from '../write.ts';
import { findPosition } from './past-list.ts';
import { createFormatter } from './product-list.ts';
import { type ListQuery, productReadParameters } from './product-query.ts';

/** POST /api/v1/products: 201, 400, 409 */
export async function createProduct(call: ApiRequest, services: Services): Promise<Reply> {
  const product = parseNewProduct(await call.readJson(), call.caller.currency);
  const outcome = await services.store.createProduct(toWriteContext(call), product);
  return formatWritten(call, outcome);
}

/** GET: 200, 304, 404, 410, 412 */
export function readProduct(call: ApiRequest, services: Services): Reply | Promise<Reply> {
  const { at, fields } = parseParameters(productReadParameters, call.query, call.caller);
  const key = cacheKey(call, fields);
  const whole = at ? renderPast(call, services, at, fields)
    : services.pages.find(key, call.caller.position) ?? renderCurrent(call, services, key, fields);
  return types.isPromise(whole) ? whole.then((reply) => applyConditions(call, reply))
    : applyConditions(call, whole);
}

/** PUT /api/v1/products/sku/{sku}: 201 created, 200 replaced or unchanged, 400, 412 */
export async function putProduct(call: ApiRequest, services: Services): Promise<Reply> {
  const { sku = '' } = call.parameters;
  const product = parseReplacement(await call.readJson(), sku, call.caller.currency);
  const precondition = readPrecondition(call.headers);
  const outcome = await services.store.putProduct(toWriteContext(call), product, precondition);
  return formatWritten(call, outcome);
}

/** PATCH: 200, 400, 404, 409, 412 */
export async function patchProduct(call: ApiRequest, services: Services): Promise<Reply> {
  const patch = parseProductPatch(await call.readJson(), call.caller.currency);
  const other = findOtherMember(patch, ['price']);
  if (other !== undefined) authorize(call.caller, ['products:write'], ` to change /${other}`);
  const precondition = readPrecondition(call.headers);
  const write = toWriteContext(call);
  const outcome = await services.store.patchProduct(write, readTarget(call), patch, precondition);
  return formatWritten(call, outcome);
}

/** DELETE: 204, 404, 412 */
export async function deleteProduct(call: ApiRequest, { store }: Services): Promise<Reply> {
  const precondition = readPrecondition(call.headers);
  const { isReplay } = await store.deleteProduct(
    toWriteContext(call), readTarget(call), precondition,
  );
  return { status: 204, headers: { 'cache-control': 'no-store', ...replayHeader(isReplay) } };
}

type Fields = ListQuery['fields'];

async function renderCurrent(
  call: ApiRequest, { store, pages }: Services, key: string, fields: Fields,
): Promise<Reply> {
  const { sellerId, position } = call.caller;
  const reply = formatFound(call, await store.findProduct(sellerId, readTarget(call)), fields);
  pages.set(key, position, reply);
  return reply;
}

function cacheKey({ caller, parameters: { id, sku = '' } }: ApiRequest, fields: Fields): string {
  return `product ${caller.sellerId} ${fields?.join() ?? ''} ${id ?? `sku ${sku}`}`;
}

/** @throws AppError `precondition_failed`, `invalid_data` */
function applyConditions({ headers }: ApiRequest, whole: Reply): Reply {
  const { 'cache-control': caching = '', etag = '' } = whole.headers;
  assertMatch(headers['if-match'], etag);
  if (!isNoneMatch(headers['if-none-match'], etag)) return whole;
  return { status: 304, headers: { 'cache-control': caching, etag } };
}

async function renderPast(
  call: ApiRequest, services: Services, moment: Moment, fields: Fields,
): Promise<Reply> {
  const position = await findPosition(call, services, moment);
  const { sellerId } = call.caller;
  const product = await services.store.findProductAt(sellerId, readTarget(call), position);
  return formatFound(call, product, fields);
}

/** @throws AppError `not_found` without a product */
function formatFound(call: ApiRequest, product: Product | undefined, fields: Fields): Reply {
  if (!product) throw notFound(call);
  const headers = {
    'cache-control': 'private, no-cache',
    etag: formatEntityTag(toRevision(call.caller.generation, product.position)),
    'content-type': JSON_TYPE,
  };
  return { status: 200, headers, body: createFormatter({ fields })(product) };
}

function formatWritten(
  { caller, prefix }: ApiRequest,
  { effect, id, position, json, isReplay }: WrittenProduct,
): Reply {
  const isCreated = effect === 'created';
  return {
    status: isCreated ? 201 : 200,
    headers: {
      'content-type': JSON_TYPE,
      'cache-control': 'no-store',
      ...(isCreated && {
        location: `${prefix}${PRODUCTS}/${formatProductId(caller.sellerId, id)}`,
      }),
      etag: formatEntityTag(toRevision(caller.generation, position)),
      ...replayHeader(isReplay),
    },
    body: json,
  };
}

/** The product that the path names. @throws AppError `not_found` for an invalid id or SKU */
function readTarget(call: ApiRequest): ProductTarget {
  const { parameters, caller: { sellerId } } = call;
  const id = parseProductId(sellerId, parameters['id']);
  if (id !== undefined) return { id };
  const sku = findSku(parameters['sku'] ?? '');
  if (sku !== undefined) return { sku };
  throw notFound(call);
}

function notFound({ parameters, query }: ApiRequest): AppError {
  const name = parameters['sku'] === undefined ? 'id' : 'SKU';
  const at = query.get('at');
  return new AppError('not_found', at === undefined
    ? `You have no product with this ${name}.` : `You had no product with this ${name} at ${at}.`);
}
