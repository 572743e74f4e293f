/**
 * The webhook port in SQLite. This thread encrypts and decrypts secrets; the writer thread and the
 * idempotency records get only encrypted ones.
 */
import { join } from 'node:path';
import { AppError } from '../../../domain/error.ts';
import {
  formatWebhookId, nextId, type SellerId, type WebhookId, type WebhookReference,
} from '../../../domain/id.ts';
import {
  generateWebhookSecret, UNREADABLE_SECRET, type WebhookSecret,
} from '../../../domain/webhooks/webhook-signature.ts';
import type { WebhookStore, WebhookWithSecret } from '../../webhook-store.ts';
import type { Actor, WriteContext } from '../../write.ts';
import { tryLock } from '../files/file-lock.ts';
import type { IdempotencyScope } from '../../rules/idempotency.ts';
import type { Reader } from '../engine/reader.ts';
import type { ServerKey } from '../../rules/server-key.ts';
import type { WrittenSecret } from './webhook-mutations.ts';
import type { Writer } from '../engine/writer.ts';

interface WebhookStoreOptions {
  readonly folder: string;
  readonly key: ServerKey;
  readonly writer: Writer;
  readonly reader: Reader;
  readonly clock: () => number;
  readonly scopeOf: (write: WriteContext) => IdempotencyScope | undefined;
}

/** The methods that are not plain queries: `Reader.methods` has the others. */
export function webhookMethods(
  options: WebhookStoreOptions,
): Omit<WebhookStore, keyof Reader['methods']> {
  const { folder, writer, scopeOf } = options;
  return {
    ...secretMethods(options),
    patchWebhook: (write, id, patch) =>
      writer.run('patchWebhook', { actor: actorOf(write), id, patch }, scopeOf(write)),
    deleteWebhook: (write, id) =>
      writer.run('deleteWebhook', { actor: actorOf(write), id }, scopeOf(write)),
    replayWebhook: (write, id, position) =>
      writer.run('replayWebhook', { actor: actorOf(write), id, position }, scopeOf(write)),
    async acquireDeliveryLock() {
      const lock = tryLock(join(folder, 'webhooks.lock'));
      return lock && (() => lock[Symbol.dispose]());
    },
    beginWebhookMessage: (webhook, position, message) =>
      writer.run('beginWebhookMessage', { webhook, position, message }),
    endWebhookAttempt: (webhook, message, result, step) =>
      writer.run('endWebhookAttempt', { webhook, message, result, step }),
    noteWebhookTest: (webhook, messageId, result) =>
      writer.run('noteWebhookTest', { webhook, messageId, result }),
    disableWebhook: (webhook, reason) => writer.run('disableWebhook', { webhook, reason }),
  };
}

/** The methods that generate or read secrets. */
function secretMethods(
  { key, writer, reader, clock, scopeOf }: WebhookStoreOptions,
): Pick<WebhookStore, 'createWebhook' | 'rotateWebhookSecret' | 'findWebhookSecrets'> {
  let lastId = 0;

  /**
   * Assigned here, because the secret's encryption is bound to it; above all ids of this seller.
   */
  function takeId(sellerId: SellerId): WebhookId {
    lastId = nextId(Math.max(reader.snapshot().findLastWebhookId(sellerId), lastId), clock());
    // The cast: webhook ids are assigned here.
    return lastId as WebhookId;
  }

  function generateSecret(webhook: WebhookReference): { readonly secret: string } {
    const encrypted = key.encrypt(generateWebhookSecret(), contextOfWebhook(webhook));
    return { secret: encrypted.toString('base64') };
  }

  function decrypt(webhook: WebhookReference, bytes: Uint8Array): WebhookSecret | undefined {
    // The cast: only secrets are encrypted in this context.
    return key.decrypt(bytes, contextOfWebhook(webhook)) as WebhookSecret | undefined;
  }

  function reveal({ webhook, secret, isReplay }: WrittenSecret): WebhookWithSecret {
    const decrypted = decrypt(webhook, Buffer.from(secret, 'base64'));
    if (decrypted) return { webhook, secret: decrypted, isReplay };
    throw new AppError('unavailable', UNREADABLE_SECRET);
  }

  return {
    createWebhook: async (write, webhook) => {
      const { sellerId } = write;
      const id = takeId(sellerId);
      const generated = { id, ...generateSecret({ sellerId, id }) };
      const input = { actor: actorOf(write), webhook, generated };
      return reveal(await writer.run('createWebhook', input, scopeOf(write)));
    },
    rotateWebhookSecret: async (write, id, overlapMs) => {
      const generated = generateSecret({ sellerId: write.sellerId, id });
      const input = { actor: actorOf(write), id, overlapMs, generated };
      return reveal(await writer.run('rotateWebhookSecret', input, scopeOf(write)));
    },
    findWebhookSecrets: async (webhook) => {
      const [newest, ...older] = reader.snapshot().listWebhookSecrets(webhook, clock())
        .map((encrypted) => decrypt(webhook, encrypted));
      return newest && [newest, ...older.filter((secret) => secret !== undefined)];
    },
  };
}

/** Includes the address, for the audit log. */
function actorOf({ sellerId, keyId, address = '' }: Actor): Actor {
  return { sellerId, keyId, address };
}

/** The context that an encrypted secret is bound to (AEAD). Persisted: do not change it. */
export function contextOfWebhook(webhook: WebhookReference): string {
  return `webhook secret ${formatWebhookId(webhook)}`;
}
