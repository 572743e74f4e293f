/**
 * The part of the adapter that keeps webhooks. Secrets are sealed and opened here, in the thread
 * that serves: what goes to the writer, and into the records of idempotency, is sealed.
 */
import { join } from 'node:path';
import { AppError } from '../../../domain/error.ts';
import {
  formatWebhookId, nextId, type SellerId, type WebhookId, type WebhookReference,
} from '../../../domain/id.ts';
import {
  generateWebhookSecret, type WebhookSecret,
} from '../../../domain/webhooks/webhook-signature.ts';
import type { WebhookStore, WebhookWithSecret } from '../../webhook-store.ts';
import type { Actor, WriteContext } from '../../write.ts';
import { tryLock } from '../files/file-lock.ts';
import type { IdempotencyScope } from '../../rules/idempotency.ts';
import type { Reader } from '../engine/reader.ts';
import type { ServerKey } from '../../rules/server-key.ts';
import type { WrittenSecret } from './webhook-mutations.ts';
import type { Writer } from '../engine/writer.ts';

interface Parts {
  readonly folder: string;
  readonly key: ServerKey;
  readonly writer: Writer;
  readonly reader: Reader;
  readonly clock: () => number;
  /** What crosses to the writer of whoever writes. */
  readonly actorOf: (actor: Actor) => Actor;
  readonly scopeOf: (write: WriteContext) => IdempotencyScope | undefined;
}

export function webhookStore(parts: Parts): WebhookStore {
  const { writer, reader, actorOf } = parts;
  return {
    ...secretMethods(parts),
    findWebhook: async (webhook) => reader.snapshot().findWebhook(webhook),
    listWebhooks: async (sellerId, query) => reader.snapshot().listWebhooks(sellerId, query),
    patchWebhook: (write, id, patch) => writer.run(
      'patchWebhook', { actor: addressedActorOf(write), id, patch }, parts.scopeOf(write),
    ),
    deleteWebhook: (write, id) =>
      writer.run('deleteWebhook', { actor: addressedActorOf(write), id }, parts.scopeOf(write)),
    replayWebhook: (write, id, position) => writer.run(
      'replayWebhook', { actor: actorOf(write), id, position }, parts.scopeOf(write),
    ),
    listWebhookAttempts: async (webhook, query) =>
      reader.snapshot().listWebhookAttempts(webhook, query),
    acquireDeliveryLock: async () => tryLock(join(parts.folder, 'webhooks.lock')),
    hasWebhooks: async () => reader.snapshot().hasWebhooks(),
    listDueWebhooks: async (query) => reader.snapshot().listDueWebhooks(query),
    findNextRetry: async (after) => reader.snapshot().findNextRetry(after),
    beginWebhookMessage: ({ sellerId, id, position: from, types }, position, message) =>
      writer.run('beginWebhookMessage', {
        webhook: { sellerId, id, position: from, types }, position, ...(message && { message }),
      }),
    endWebhookAttempt: ({ sellerId, id }, message, result, step) =>
      writer.run('endWebhookAttempt', { webhook: { sellerId, id }, message, result, step }),
    noteWebhookTest: ({ sellerId, id }, messageId, result) => writer.run('noteWebhookTest', {
      webhook: { sellerId, id }, test: { ...result, messageId },
    }),
    disableWebhook: ({ sellerId, id, position, types, message }, reason) =>
      writer.run('disableWebhook', { webhook: { sellerId, id, position, types, message }, reason }),
  };
}

/** All that makes a secret, or reads one. */
function secretMethods(
  { key, writer, reader, clock, scopeOf }: Parts,
): Pick<WebhookStore, 'createWebhook' | 'rotateWebhookSecret' | 'findWebhookSecrets'> {
  let lastId = 0;

  /** Chosen here, for a secret is sealed for it; above all that this process has seen. */
  function takeId(sellerId: SellerId): WebhookId {
    const found = reader.snapshot().findLastWebhookId(sellerId);
    lastId = nextId(Math.max(found, lastId), clock());
    // Here is where a WebhookId comes from.
    return lastId as WebhookId;
  }

  function makeSecret(webhook: WebhookReference): { readonly secret: string } {
    const sealed = key.encrypt(generateWebhookSecret(), contextOfWebhook(webhook));
    return { secret: sealed.toString('base64') };
  }

  function open(webhook: WebhookReference, sealed: Uint8Array): WebhookSecret | undefined {
    // The cast: only secrets are sealed for an endpoint.
    return key.decrypt(sealed, contextOfWebhook(webhook)) as WebhookSecret | undefined;
  }

  function reveal({ webhook, secret, isReplay }: WrittenSecret): WebhookWithSecret {
    const opened = open(webhook, Buffer.from(secret, 'base64'));
    if (opened) return { webhook, secret: opened, isReplay };
    const what = 'The secret cannot be read any more: server.key is missing, or another one.';
    throw new AppError('unavailable', `${what} Rotate the secret of this webhook.`);
  }

  return {
    createWebhook: async (write, webhook) => {
      const id = takeId(write.sellerId);
      const generated = { id, ...makeSecret({ sellerId: write.sellerId, id }) };
      const input = { actor: addressedActorOf(write), webhook, generated };
      return reveal(await writer.run('createWebhook', input, scopeOf(write)));
    },
    rotateWebhookSecret: async (write, id, overlapMs) => {
      const generated = makeSecret({ sellerId: write.sellerId, id });
      const input = { actor: addressedActorOf(write), id, overlapMs, generated };
      return reveal(await writer.run('rotateWebhookSecret', input, scopeOf(write)));
    },
    findWebhookSecrets: async (webhook) => {
      const sealed = reader.snapshot().findSealedSecrets(webhook);
      const newest = sealed && open(webhook, sealed.secret);
      if (!newest) return undefined;
      const { old } = sealed;
      const isOldAlive = old !== undefined && old.endsAt > clock();
      return [newest, isOldAlive ? open(webhook, old.secret) : undefined]
        .filter((secret) => secret !== undefined);
    },
  };
}

/** The audit log notes the address of these mutations. */
function addressedActorOf({ sellerId, keyId, address = '' }: WriteContext): Actor {
  return { sellerId, keyId, address };
}

/** What a sealed secret is bound to. */
export function contextOfWebhook(webhook: WebhookReference): string {
  return `webhook secret ${formatWebhookId(webhook)}`;
}
