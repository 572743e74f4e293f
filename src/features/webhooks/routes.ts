/** Endpoints of webhooks: create, list, read, patch, delete. */
import { AppError } from '../../domain/error.ts';
import {
  formatWebhookId, parseWebhookId, type WebhookId, type WebhookReference,
} from '../../domain/id.ts';
import { formatWebhook } from '../../domain/webhooks/webhook.ts';
import { parseNewWebhook, parseWebhookPatch } from '../../domain/webhooks/webhook-input.ts';
import type { Reply } from '../../http/response/reply.ts';
import type { WebhookWithSecret } from '../../store/webhook-store.ts';
import { JSON_TYPE } from '../../api/media-types.ts';
import { readLimit } from '../../api/query-reader.ts';
import type { ApiRequest, Services } from '../../api/route.ts';
import { replayHeader, toWriteContext } from '../../api/write.ts';
import type { Webhooks } from './webhooks.ts';

export const WEBHOOKS = '/api/v1/webhooks';

/** What the routes need of the sender of webhooks. */
export type WebhookService = Pick<Webhooks, 'checkUrl' | 'sendTest'>;

/** The service that the app was given; undefined if webhooks are switched off. */
export function webhookService(): WebhookService | undefined {
  return undefined;
}

/** POST /api/v1/webhooks: 201, 400, 409 */
export async function createWebhook(call: ApiRequest, services: Services): Promise<Reply> {
  const webhooks = getWebhooks(services);
  const { sellerId } = call.caller;
  const sent = await parseNewWebhook(await call.readJson(), (url) =>
    webhooks.checkUrl(sellerId, url));
  const created = await services.store.createWebhook(toWriteContext(call), sent);
  const reply = formatWithSecret(created);
  const location = `${services.prefix}${WEBHOOKS}/${formatWebhookId(created.webhook)}`;
  return { ...reply, status: 201, headers: { ...reply.headers, location } };
}

/** GET /api/v1/webhooks: 200, 400 */
export async function listWebhooks(call: ApiRequest, services: Services): Promise<Reply> {
  getWebhooks(services);
  const { sellerId } = call.caller;
  const limit = readLimit(call.query);
  const name = `webhooks ${sellerId}`;
  const cursor = call.query.get('cursor');
  // The cast: what we have signed for this list is an id in it.
  const after = cursor === undefined
    ? undefined : Number(services.cursors.parse(name, cursor)) as WebhookId;
  const found = await services.store.listWebhooks(sellerId, { after, limit: limit + 1 });
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  const next = last ? services.cursors.format(name, String(last.id)) : null;
  const items = page.map(formatWebhook).join(',');
  return formatJson(`{"webhooks":[${items}],"next_cursor":${JSON.stringify(next)}}`);
}

/** GET /api/v1/webhooks/{id}: 200, 404 */
export async function readWebhook(call: ApiRequest, services: Services): Promise<Reply> {
  getWebhooks(services);
  const webhook = await services.store.findWebhook(readReference(call));
  if (!webhook) throw notFound();
  return formatJson(formatWebhook(webhook));
}

/** PATCH /api/v1/webhooks/{id}: 200, 400, 404 */
export async function patchWebhook(call: ApiRequest, services: Services): Promise<Reply> {
  const webhooks = getWebhooks(services);
  const { sellerId, id } = readReference(call);
  const patch = await parseWebhookPatch(await call.readJson(), (url) =>
    webhooks.checkUrl(sellerId, url));
  const { webhook, isReplay } = await services.store.patchWebhook(toWriteContext(call), id, patch);
  return formatJson(formatWebhook(webhook), replayHeader(isReplay));
}

/** DELETE /api/v1/webhooks/{id}: 204, 404 */
export async function deleteWebhook(call: ApiRequest, services: Services): Promise<Reply> {
  getWebhooks(services);
  const { isReplay } = await services.store.deleteWebhook(
    toWriteContext(call), readReference(call).id,
  );
  return { status: 204, headers: { 'cache-control': 'no-store', ...replayHeader(isReplay) } };
}

/** @throws AppError `not_found` where webhooks are switched off */
export function getWebhooks({ instances }: Services): WebhookService {
  const webhooks = instances.get(webhookService);
  if (webhooks) return webhooks;
  const detail = 'Webhooks are switched off on this server. Whoever runs it can allow them.';
  throw new AppError('not_found', detail);
}

/** The endpoint that the path names. @throws AppError `not_found` for what can be no name of one */
export function readReference({ caller: { sellerId }, parameters }: ApiRequest): WebhookReference {
  const id = parseWebhookId(sellerId, parameters['webhook_id'] ?? '');
  if (id === undefined) throw notFound();
  return { sellerId, id };
}

/** The one answer that has the secret. */
export function formatWithSecret({ webhook, secret, isReplay }: WebhookWithSecret): Reply {
  const json = `${formatWebhook(webhook).slice(0, -1)},"secret":${JSON.stringify(secret)}}`;
  return formatJson(json, replayHeader(isReplay));
}

export function formatJson(json: string, headers: Record<string, string> = {}): Reply {
  return {
    status: 200,
    headers: { 'content-type': JSON_TYPE, 'cache-control': 'no-store', ...headers },
    body: json,
  };
}

export function notFound(): AppError {
  return new AppError('not_found', 'You have no webhook with this id.');
}
