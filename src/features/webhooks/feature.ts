/** Webhooks: their routes, and the worker that delivers changes to their endpoints. */
import type { Operation } from '../../api/description/operation.ts';
import { type KeyRoute, keyRoute } from '../../api/route.ts';
import type { Scope } from '../../domain/access/caller.ts';
import { type Parsers, switchWith } from '../../domain/arguments.ts';
import { formatWebhookId, type SellerId } from '../../domain/id.ts';
import { booleanValidator } from '../../domain/validation.ts';
import type { Webhook } from '../../domain/webhooks/webhook.ts';
import type { Feature, LoadedFeature, Settings } from '../../feature.ts';
import { counter, gauge, type MetricFamily, samplesBy } from '../../runtime/metric-family.ts';
import type { WebhookStore } from '../../store/webhook-store.ts';
import { listDeliveries, readDelivery, resendDelivery, testWebhook } from './deliveries.ts';
import { messageOperation, webhookOperations } from './description/operations.ts';
import { webhookSchemas } from './description/schemas.ts';
import {
  createWebhook, deleteWebhook, listWebhooks, patchWebhook, readWebhook, replayWebhook,
  retryWebhook, rotateSecret, WEBHOOKS, webhookService,
} from './routes.ts';
import type { DestinationOptions, Webhooks } from './webhooks.ts';

export interface WebhooksOption {
  /** What `startWebhooks` returns. Without it, the webhook routes respond with 404. */
  readonly webhooks?: Webhooks | undefined;
}

/** Whether a shop delivers webhooks. */
export interface WebhooksShopOption {
  /**
   * Whether to deliver webhooks, and where to. Default false: the webhook routes then respond with
   * 404.
   */
  readonly webhooks?: boolean | DestinationOptions;
}

const scope: Scope = 'webhooks:write';
const WEBHOOK = `${WEBHOOKS}/{webhook_id}`;
/** A route that is off without the webhook service. */
const route = (
  method: string, path: string, operation: Operation, handle: KeyRoute['handle'],
): KeyRoute => ({
  ...keyRoute(method, path, scope, operation, handle),
  isEnabled: ({ instances }) => instances.get(webhookService) !== undefined,
});

export const webhooks: Feature<WebhooksOption, WebhooksShopOption> = {
  routes: [
    route('GET', WEBHOOKS, webhookOperations.list, listWebhooks),
    route('POST', WEBHOOKS, webhookOperations.create, createWebhook),
    route('GET', WEBHOOK, webhookOperations.read, readWebhook),
    route('PATCH', WEBHOOK, webhookOperations.patch, patchWebhook),
    route('DELETE', WEBHOOK, webhookOperations.delete, deleteWebhook),
    route('GET', `${WEBHOOK}/deliveries`, webhookOperations.listDeliveries, listDeliveries),
    route('GET', `${WEBHOOK}/deliveries/{n}`, webhookOperations.readDelivery, readDelivery),
    route('POST', `${WEBHOOK}/deliveries/{n}/resend`, webhookOperations.resend, resendDelivery),
    route('POST', `${WEBHOOK}/retry`, webhookOperations.retry, retryWebhook),
    route('POST', `${WEBHOOK}/test`, webhookOperations.test, testWebhook),
    route('POST', `${WEBHOOK}/replay`, webhookOperations.replay, replayWebhook),
    route('POST', `${WEBHOOK}/rotate-secret`, webhookOperations.rotateSecret, rotateSecret),
  ],
  schemas: webhookSchemas,
  webhooks: [messageOperation],
  pathParameters: [{
    name: 'webhook_id', description: 'Id of the webhook.', example: 'whk_1k7s94cm9001k7s94bi600',
    schema: { type: 'string' },
    async findSample(store, sellerId) {
      const webhook = await findFirstWebhook(store, sellerId);
      return webhook && formatWebhookId(webhook);
    },
  }, {
    name: 'n', description: 'Number of the attempt, from 1.', example: '7',
    schema: { type: 'string', pattern: '^[1-9]\\d{0,14}$' },
    async findSample(store, sellerId) {
      const webhook = await findFirstWebhook(store, sellerId);
      const newest = { before: undefined, limit: 1 };
      const [attempt] = webhook ? await store.listWebhookAttempts(webhook, newest) : [];
      return attempt && String(attempt.n);
    },
  }],
  connect({ instances }, options) {
    instances.set(webhookService, options.webhooks);
    return undefined;
  },
  server: {
    settings: {
      'no-webhooks': { help: 'send no webhooks; their routes answer 404', isSetting: true },
      'webhook-allow-private': {
        help: 'send webhooks to any address and port (see SECURITY.md)', isSetting: true,
      },
      'webhook-allow-http': { help: 'send webhooks also without TLS', isSetting: true },
    },
    load: loadWebhooks,
  },
  embed: {
    options: {
      webhooks: switchWith<DestinationOptions>({
        allowPrivate: booleanValidator.parse, allowHttp: booleanValidator.parse,
      }),
    } satisfies Parsers<WebhooksShopOption>,
    async start({ webhooks: option = false }, context) {
      if (option === false) return { options: { webhooks: undefined } };
      const { startWebhooks } = await import('./webhooks.ts');
      const service = startWebhooks({ ...context, ...(option !== true && option) });
      return { options: { webhooks: service }, close: service.close };
    },
  },
};

async function findFirstWebhook(
  store: WebhookStore, sellerId: SellerId,
): Promise<Webhook | undefined> {
  return (await store.listWebhooks(sellerId, { after: undefined, limit: 1 }))[0];
}

async function loadWebhooks(
  settings: Settings,
): Promise<LoadedFeature<WebhooksOption> | undefined> {
  const allowPrivate = settings.readSwitch('webhook-allow-private');
  const allowHttp = settings.readSwitch('webhook-allow-http');
  if (settings.readSwitch('no-webhooks')) return undefined;
  const { startWebhooks } = await import('./webhooks.ts');
  return {
    start(store, { report }) {
      const webhooks = startWebhooks({ store, report, allowPrivate, allowHttp });
      return {
        options: { webhooks }, listMetrics: () => listMetrics(webhooks), stop: webhooks.close,
      };
    },
  };
}

function listMetrics({ readMetrics }: Webhooks): readonly MetricFamily[] {
  const { attempts, inFlight, leases = 0, oldestMessageAt } = readMetrics();
  return [
    counter('webhook_attempts_total', 'Attempts to send a message.',
      samplesBy('outcome', attempts)),
    gauge('webhook_deliveries_in_flight', 'Webhook deliveries in flight.', inFlight),
    gauge('webhook_leases', 'Leases to deliver webhooks that this process has: 1 with a data '
      + 'folder, up to 64 in total with a database server.', leases),
    gauge('webhook_oldest_message_timestamp_seconds',
      'Unix time of the oldest message that an active webhook has not delivered.',
      oldestMessageAt === undefined ? [] : oldestMessageAt / 1000),
  ];
}
