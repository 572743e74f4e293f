/** What can be done with an endpoint of webhooks: look at its log, test, replay, rotate. */
import { formatWebhook, formatWebhookAttempt } from '../../domain/webhooks/webhook.ts';
import { parseReplay, parseRotation } from '../../domain/webhooks/webhook-input.ts';
import type { Reply } from '../../http/response/reply.ts';
import { readLimit } from '../../api/query-reader.ts';
import type { ApiRequest, Services } from '../../api/route.ts';
import { formatJson, formatWithSecret, getWebhooks, notFound, readReference } from './routes.ts';
import { replayHeader, toWriteContext } from '../../api/write.ts';

/** GET /api/v1/webhooks/{id}/deliveries: 200, 400, 404 */
export async function listDeliveries(call: ApiRequest, services: Services): Promise<Reply> {
  getWebhooks(services);
  const reference = readReference(call);
  const { store, cursors } = services;
  if (!await store.findWebhook(reference)) throw notFound();
  const limit = readLimit(call.query);
  const name = `deliveries ${reference.sellerId} ${reference.id}`;
  const cursor = call.query.get('cursor');
  const before = cursor === undefined ? undefined : Number(cursors.parse(name, cursor));
  const found = await store.listWebhookAttempts(reference, { before, limit: limit + 1 });
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  const next = last ? cursors.format(name, String(last.n)) : null;
  const items = page.map(formatWebhookAttempt).join(',');
  return formatJson(`{"deliveries":[${items}],"next_cursor":${JSON.stringify(next)}}`);
}

/** POST /api/v1/webhooks/{id}/test: 200, 404, 503 */
export async function testWebhook(call: ApiRequest, services: Services): Promise<Reply> {
  const webhooks = getWebhooks(services);
  const { messageId, result } = await webhooks.sendTest(readReference(call));
  const [first, last] = [undefined, undefined];
  return formatJson(formatWebhookAttempt({ ...result, messageId, kind: 'test', first, last }));
}

/** POST /api/v1/webhooks/{id}/replay: 200, 400, 404, 410 */
export async function replayWebhook(call: ApiRequest, services: Services): Promise<Reply> {
  getWebhooks(services);
  const { id } = readReference(call);
  const position = parseReplay(await call.readJson(), call.caller.position);
  const { webhook, isReplay } = await services.store.replayWebhook(
    toWriteContext(call), id, position,
  );
  return formatJson(formatWebhook(webhook), replayHeader(isReplay));
}

/** POST /api/v1/webhooks/{id}/rotate-secret: 200, 400, 404 */
export async function rotateSecret(call: ApiRequest, services: Services): Promise<Reply> {
  getWebhooks(services);
  const { id } = readReference(call);
  const overlapMs = parseRotation(hasBody(call) ? await call.readJson() : {});
  return formatWithSecret(
    await services.store.rotateWebhookSecret(toWriteContext(call), id, overlapMs),
  );
}

/** RFC 9112 section 6: a request without either field has no body. */
function hasBody({ headers }: ApiRequest): boolean {
  const length = headers['content-length'] ?? '0';
  return headers['transfer-encoding'] !== undefined || length !== '0';
}
