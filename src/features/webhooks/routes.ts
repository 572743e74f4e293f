/**
 * The handlers of the webhook routes: endpoints, their delivery log, tests, replays and secrets.
 * Without the webhook service every route answers 404, also for a webhook that exists.
 */
import type { ApiRequest, Services } from '../../api/route.ts';
import { JSON_TYPE } from '../../api/media-types.ts';
import { pageParameters } from '../../api/list.ts';
import { parseParameters } from '../../api/parameters.ts';
import { replayHeader, toWriteContext } from '../../api/write.ts';
import { AppError } from '../../domain/error.ts';
import {
  formatWebhookId, parseWebhookId, type WebhookId, type WebhookReference,
} from '../../domain/id.ts';
import { formatWebhook, formatWebhookAttempt } from '../../domain/webhooks/webhook.ts';
import {
  parseNewWebhook, parseReplay, parseRotation, parseWebhookPatch,
} from '../../domain/webhooks/webhook-input.ts';
import type { Reply } from '../../http/response/reply.ts';
import type { WebhookWithSecret } from '../../store/webhook-store.ts';
import type { Webhooks } from './webhooks.ts';

export const WEBHOOKS = '/api/v1/webhooks';

/** What the routes need of the sender of webhooks. */
export type WebhookService = Pick<Webhooks, 'checkUrl' | 'sendTest'>;

/** The service that the app was given; undefined if webhooks are switched off. */
export function webhookService(): WebhookService | undefined {
  return undefined;
}

/** POST /api/v1/webhooks: 201, 400, 409 */
export async function createWebhook(request: ApiRequest, services: Services): Promise<Reply> {
  const service = getWebhooks(services);
  const { sellerId } = request.caller;
  const input = await parseNewWebhook(await request.readJson(), (url) =>
    service.checkUrl(sellerId, url));
  const created = await services.store.createWebhook(toWriteContext(request), input);
  const reply = replyWithSecret(created);
  const location = `${services.prefix}${WEBHOOKS}/${formatWebhookId(created.webhook)}`;
  return { ...reply, status: 201, headers: { ...reply.headers, location } };
}

/** GET /api/v1/webhooks: 200, 400 */
export async function listWebhooks(request: ApiRequest, services: Services): Promise<Reply> {
  getWebhooks(services);
  const { sellerId } = request.caller;
  return replyPage(request, services, {
    name: 'webhooks',
    scope: `webhooks ${sellerId}`,
    // The cast: a signed cursor of this list contains an id from it.
    find: (after, limit) =>
      services.store.listWebhooks(sellerId, { after: after as WebhookId | undefined, limit }),
    keyOf: ({ id }) => id,
    format: formatWebhook,
  });
}

/** GET /api/v1/webhooks/{id}: 200, 404 */
export async function readWebhook(request: ApiRequest, services: Services): Promise<Reply> {
  const webhook = await services.store.findWebhook(readReference(request, services));
  if (!webhook) throw notFound();
  return replyJson(formatWebhook(webhook));
}

/** PATCH /api/v1/webhooks/{id}: 200, 400, 404 */
export async function patchWebhook(request: ApiRequest, services: Services): Promise<Reply> {
  const { sellerId, id } = readReference(request, services);
  const service = getWebhooks(services);
  const patch = await parseWebhookPatch(await request.readJson(), (url) =>
    service.checkUrl(sellerId, url));
  const context = toWriteContext(request);
  const { webhook, isReplay } = await services.store.patchWebhook(context, id, patch);
  return replyJson(formatWebhook(webhook), replayHeader(isReplay));
}

/** DELETE /api/v1/webhooks/{id}: 204, 404 */
export async function deleteWebhook(request: ApiRequest, services: Services): Promise<Reply> {
  const { id } = readReference(request, services);
  const { isReplay } = await services.store.deleteWebhook(toWriteContext(request), id);
  return { status: 204, headers: { 'cache-control': 'no-store', ...replayHeader(isReplay) } };
}

/** GET /api/v1/webhooks/{id}/deliveries: 200, 400, 404 */
export async function listDeliveries(request: ApiRequest, services: Services): Promise<Reply> {
  const reference = readReference(request, services);
  const { store } = services;
  if (!await store.findWebhook(reference)) throw notFound();
  return replyPage(request, services, {
    name: 'deliveries',
    scope: `deliveries ${reference.sellerId} ${reference.id}`,
    find: (before, limit) => store.listWebhookAttempts(reference, { before, limit }),
    keyOf: ({ n }) => n,
    format: (attempt) => formatWebhookAttempt(attempt),
  });
}

/** POST /api/v1/webhooks/{id}/test: 200, 404, 503 */
export async function testWebhook(request: ApiRequest, services: Services): Promise<Reply> {
  const reference = readReference(request, services);
  const { messageId, result } = await getWebhooks(services).sendTest(reference);
  const [first, last] = [undefined, undefined];
  return replyJson(formatWebhookAttempt({ ...result, messageId, kind: 'test', first, last }));
}

/** POST /api/v1/webhooks/{id}/replay: 200, 400, 404, 410 */
export async function replayWebhook(request: ApiRequest, services: Services): Promise<Reply> {
  const { id } = readReference(request, services);
  const position = parseReplay(await request.readJson(), request.caller.position);
  const context = toWriteContext(request);
  const { webhook, isReplay } = await services.store.replayWebhook(context, id, position);
  return replyJson(formatWebhook(webhook), replayHeader(isReplay));
}

/** POST /api/v1/webhooks/{id}/rotate-secret: 200, 400, 404 */
export async function rotateSecret(request: ApiRequest, services: Services): Promise<Reply> {
  const { id } = readReference(request, services);
  const overlapMs = parseRotation(hasBody(request) ? await request.readJson() : {});
  const context = toWriteContext(request);
  return replyWithSecret(await services.store.rotateWebhookSecret(context, id, overlapMs));
}

/** RFC 9112 section 6: a request with neither field has no body. */
function hasBody({ headers }: ApiRequest): boolean {
  const length = headers['content-length'] ?? '0';
  return headers['transfer-encoding'] !== undefined || length !== '0';
}

/** @throws AppError `not_found` if webhooks are switched off */
export function getWebhooks({ instances }: Services): WebhookService {
  const service = instances.get(webhookService);
  if (service) return service;
  throw new AppError('not_found', 'Webhooks are switched off on this server.');
}

/** The webhook that the path names. @throws AppError `not_found` for an invalid id */
function readReference(request: ApiRequest, services: Services): WebhookReference {
  getWebhooks(services);
  const { sellerId } = request.caller;
  const id = parseWebhookId(sellerId, request.parameters['webhook_id'] ?? '');
  if (id === undefined) throw notFound();
  return { sellerId, id };
}

interface List<Item> {
  /** The member of the response that contains the items. */
  readonly name: string;
  /** The list that a cursor is bound to. */
  readonly scope: string;
  /** Finds items after, or before, the one with this key. */
  find(key: number | undefined, limit: number): Promise<readonly Item[]>;
  keyOf(item: Item): number;
  readonly format: (item: Item) => string;
}

async function replyPage<Item>(
  { query, caller }: ApiRequest, { cursors }: Services, list: List<Item>,
): Promise<Reply> {
  const { limit, cursor } = parseParameters(pageParameters, query, caller);
  const key = cursors.parse<number>(list.scope, cursor);
  const found = await list.find(key, limit + 1);
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  const next = cursors.format(list.scope, last && list.keyOf(last)) ?? null;
  const items = page.map((item) => list.format(item)).join(',');
  return replyJson(`{"${list.name}":[${items}],"next_cursor":${JSON.stringify(next)}}`);
}

/** The only response that contains the secret. */
function replyWithSecret({ webhook, secret, isReplay }: WebhookWithSecret): Reply {
  const json = `${formatWebhook(webhook).slice(0, -1)},"secret":${JSON.stringify(secret)}}`;
  return replyJson(json, replayHeader(isReplay));
}

function replyJson(json: string, headers: Record<string, string> = {}): Reply {
  return {
    status: 200,
    headers: { 'content-type': JSON_TYPE, 'cache-control': 'no-store', ...headers },
    body: json,
  };
}

export function notFound(): AppError {
  return new AppError('not_found', 'You have no webhook with this id.');
}
