/** Handlers of a webhook's delivery log and of what is sent on request. */
import type { ApiRequest, Services } from '../../api/route.ts';
import { AppError } from '../../domain/error.ts';
import type { WebhookReference } from '../../domain/id.ts';
import {
  formatWebhookAttempt, formatWebhookAttemptDetail, type WebhookAttemptDetail,
} from '../../domain/webhooks/webhook-attempt.ts';
import { type Reply, replyJson } from '../../http/response/reply.ts';
import { getOwnWebhook, getWebhooks, referenceOf, replyPage } from './routes.ts';

/** GET /api/v1/webhooks/{id}/deliveries: 200, 400, 404 */
export async function listDeliveries(request: ApiRequest, services: Services): Promise<Reply> {
  const webhook = await getOwnWebhook(services, referenceOf(request, services));
  return replyPage(request, services, {
    name: 'deliveries',
    scope: `deliveries ${webhook.sellerId} ${webhook.id}`,
    async find(before, limit) {
      const attempts = await services.store.listWebhookAttempts(webhook, { before, limit });
      return attempts.map((attempt) => ({ key: attempt.n, json: formatWebhookAttempt(attempt) }));
    },
  });
}

/** GET /api/v1/webhooks/{id}/deliveries/{n}: 200, 404 */
export async function readDelivery(request: ApiRequest, services: Services): Promise<Reply> {
  const webhook = await getOwnWebhook(services, referenceOf(request, services));
  const attempt = await getAttempt(services, webhook, request.parameters);
  return replyJson(formatWebhookAttemptDetail(attempt));
}

/** POST /api/v1/webhooks/{id}/test: 200, 404, 503 */
export async function testWebhook(request: ApiRequest, services: Services): Promise<Reply> {
  const webhook = await getOwnWebhook(services, referenceOf(request, services));
  return replyJson(formatWebhookAttempt(await getWebhooks(services).sendTest(webhook)));
}

/** POST /api/v1/webhooks/{id}/deliveries/{n}/resend: 200, 404, 410, 503 */
export async function resendDelivery(request: ApiRequest, services: Services): Promise<Reply> {
  const webhook = await getOwnWebhook(services, referenceOf(request, services));
  const attempt = await getAttempt(services, webhook, request.parameters);
  return replyJson(formatWebhookAttempt(await getWebhooks(services).resend(webhook, attempt)));
}

/** The attempt whose number is in the path. @throws AppError `not_found` */
export async function getAttempt(
  { store }: Services, webhook: WebhookReference, { n = '' }: ApiRequest['parameters'],
): Promise<WebhookAttemptDetail> {
  const attempt = /^[1-9]\d{0,14}$/.test(n) && await store.findWebhookAttempt(webhook, Number(n));
  if (attempt) return attempt;
  throw new AppError('not_found', 'The webhook has no attempt with this number, or no longer.');
}
