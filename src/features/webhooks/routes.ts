/**
 * Handlers of the webhook routes: webhooks, replays and secrets. Without the webhook service, every
 * route responds with 404, even for an existing webhook.
 */
import type { ApiRequest, Services } from '../../api/route.ts';
import { pageParameters, splitPage } from '../../api/list.ts';
import { parseParameters } from '../../api/parameters.ts';
import { replayHeader, toWriteContext } from '../../api/write.ts';
import { AppError } from '../../domain/error.ts';
import {
  formatWebhookId, parseWebhookId, type SellerId, type WebhookId, type WebhookReference,
} from '../../domain/id.ts';
import { formatWebhook, type Webhook } from '../../domain/webhooks/webhook.ts';
import {
  parseNewWebhook, parseReplay, parseRotation, parseWebhookPatch,
} from '../../domain/webhooks/webhook-input.ts';
import { type Reply, replyJson } from '../../http/response/reply.ts';
import type { WebhookWithSecret, WrittenWebhook } from '../../store/webhook-store.ts';
import type { Webhooks } from './webhooks.ts';

export const WEBHOOKS = '/api/v1/webhooks';

/** The app's webhook service; undefined if webhooks are disabled. */
export function webhookService(): Webhooks | undefined {
  return undefined;
}

/** POST /api/v1/webhooks: 201, 400, 409 */
export async function createWebhook(request: ApiRequest, services: Services): Promise<Reply> {
  const service = getWebhooks(services);
  const input = await parseNewWebhook(await request.readJson(), (url) =>
    service.checkUrl(request.caller.sellerId, url));
  const created = await services.store.createWebhook(toWriteContext(request), input);
  const reply = replyWithSecret(created);
  const location = `${request.prefix}${WEBHOOKS}/${formatWebhookId(created.webhook)}`;
  return { ...reply, status: 201, headers: { ...reply.headers, location } };
}

/** GET /api/v1/webhooks: 200, 400 */
export async function listWebhooks(request: ApiRequest, services: Services): Promise<Reply> {
  getWebhooks(services);
  const { sellerId } = request.caller;
  return replyPage(request, services, {
    name: 'webhooks',
    scope: `webhooks ${sellerId}`,
    async find(key, limit) {
      // The cast: a signed cursor of this list contains an id from it.
      const after = key as WebhookId | undefined;
      const webhooks = await services.store.listWebhooks(sellerId, { after, limit });
      return webhooks.map((webhook) => ({ key: webhook.id, json: formatWebhook(webhook) }));
    },
  });
}

/** GET /api/v1/webhooks/{id}: 200, 404 */
export async function readWebhook(request: ApiRequest, services: Services): Promise<Reply> {
  return replyJson(formatWebhook(await getOwnWebhook(services, referenceOf(request, services))));
}

/** PATCH /api/v1/webhooks/{id}: 200, 400, 404 */
export async function patchWebhook(request: ApiRequest, services: Services): Promise<Reply> {
  const { sellerId, id } = referenceOf(request, services);
  const service = getWebhooks(services);
  const patch = await parseWebhookPatch(await request.readJson(), (url) =>
    service.checkUrl(sellerId, url));
  return replyWritten(await services.store.patchWebhook(toWriteContext(request), id, patch));
}

/** DELETE /api/v1/webhooks/{id}: 204, 404 */
export async function deleteWebhook(request: ApiRequest, services: Services): Promise<Reply> {
  const { id } = referenceOf(request, services);
  const { isReplay } = await services.store.deleteWebhook(toWriteContext(request), id);
  return { status: 204, headers: { 'cache-control': 'no-store', ...replayHeader(isReplay) } };
}

/** POST /api/v1/webhooks/{id}/retry: 200, 404 */
export async function retryWebhook(request: ApiRequest, services: Services): Promise<Reply> {
  const { id } = referenceOf(request, services);
  return replyWritten(await services.store.retryWebhook(toWriteContext(request), id));
}

/** POST /api/v1/webhooks/{id}/replay: 200, 400, 404, 410 */
export async function replayWebhook(request: ApiRequest, services: Services): Promise<Reply> {
  const { id } = referenceOf(request, services);
  const { position: current, generation } = request.caller;
  const position = parseReplay(await request.readJson(), current, generation);
  return replyWritten(await services.store.replayWebhook(toWriteContext(request), id, position));
}

/** POST /api/v1/webhooks/{id}/rotate-secret: 200, 400, 404 */
export async function rotateSecret(request: ApiRequest, services: Services): Promise<Reply> {
  const { id } = referenceOf(request, services);
  const overlapMs = parseRotation(hasBody(request) ? await request.readJson() : {});
  const context = toWriteContext(request);
  return replyWithSecret(await services.store.rotateWebhookSecret(context, id, overlapMs));
}

/** RFC 9112 section 6: a request without either field has no body. */
function hasBody({ headers }: ApiRequest): boolean {
  const length = headers['content-length'] ?? '0';
  return headers['transfer-encoding'] !== undefined || length !== '0';
}

/** @throws AppError `not_found` if webhooks are disabled */
export function getWebhooks({ instances }: Services): Webhooks {
  const service = instances.get(webhookService);
  if (service) return service;
  throw new AppError('not_found', 'Webhooks are disabled on this server.');
}

/** @throws AppError `not_found` */
export async function getOwnWebhook(
  { store }: Services, reference: WebhookReference,
): Promise<Webhook> {
  return await store.findWebhook(reference) ?? throwNotFound();
}

/**
 * Parses the webhook id in a path; the webhook may not exist.
 * @throws AppError `not_found` if the id is not the seller's, or webhooks are disabled
 */
export function readReference(
  services: Services, sellerId: SellerId, parameters: ApiRequest['parameters'],
): WebhookReference {
  getWebhooks(services);
  const id = parseWebhookId(sellerId, parameters['webhook_id'] ?? '') ?? throwNotFound();
  return { sellerId, id };
}

export function referenceOf(
  { caller, parameters }: ApiRequest, services: Services,
): WebhookReference {
  return readReference(services, caller.sellerId, parameters);
}

function throwNotFound(): never {
  throw new AppError('not_found', 'You have no webhook with this id.');
}

interface List {
  /** The response member that contains the items. */
  readonly name: string;
  /** Cursors are bound to this list. */
  readonly scope: string;
  /** Finds items after, or before, the one with this key. */
  find(
    key: number | undefined, limit: number,
  ): Promise<readonly { readonly key: number; readonly json: string }[]>;
}

/** A page of a list. @throws AppError `invalid_query` */
export async function replyPage(
  { query, caller }: ApiRequest, { cursors }: Services, { name, scope, find }: List,
): Promise<Reply> {
  const { limit, cursor } = parseParameters(pageParameters, query, caller);
  const entries = await find(cursors.parse<number>(scope, cursor), limit + 1);
  const { page, last } = splitPage(entries, limit);
  const next = cursors.format(scope, last?.key) ?? null;
  const items = page.map(({ json }) => json).join(',');
  return replyJson(`{"${name}":[${items}],"next_cursor":${JSON.stringify(next)}}`);
}

function replyWritten({ webhook, isReplay }: WrittenWebhook): Reply {
  return replyJson(formatWebhook(webhook), replayHeader(isReplay));
}

/** The only response that contains the secret. */
function replyWithSecret({ webhook, secret, isReplay }: WebhookWithSecret): Reply {
  const json = `${formatWebhook(webhook).slice(0, -1)},"secret":${JSON.stringify(secret)}}`;
  return replyJson(json, replayHeader(isReplay));
}
