/**
 * The methods of the webhook port that generate or read secrets. These are encrypted and decrypted
 * here, so mutations and idempotency records get only encrypted ones.
 */
import { AppError } from '../../../domain/error.ts';
import {
  formatWebhookId, randomId, type SellerId, type WebhookId, type WebhookReference,
} from '../../../domain/id.ts';
import {
  generateWebhookSecret, UNREADABLE_SECRET, type WebhookSecret,
} from '../../../domain/webhooks/webhook-signature.ts';
import { actorOf } from '../../rules/mutations/mutation-methods.ts';
import type { RunMutation } from '../../rules/mutations/registry.ts';
import type { ServerKey } from '../../rules/server-key.ts';
import type { WebhookStore, WebhookWithSecret } from '../../webhook-store.ts';
import type { WrittenSecret } from './webhook-mutations.ts';
import type { WebhookKeyQueries } from './webhooks.ts';

/** @param clock Milliseconds since 1970. */
export function webhookMethods(
  key: ServerKey, queries: WebhookKeyQueries, run: RunMutation, clock: () => number,
): Pick<WebhookStore, 'createWebhook' | 'rotateWebhookSecret' | 'findWebhookSecrets'> {
  let lastId = 0;

  /**
   * Assigned here, because the secret's encryption is bound to it; above all ids of this seller.
   * Random within its millisecond, in which another process may create one, too.
   */
  async function takeId(sellerId: SellerId): Promise<WebhookId> {
    const storedId = await queries.findLastWebhookId(sellerId);
    lastId = Math.max(storedId + 1, lastId + 1, randomId(clock()));
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
      for (;;) {
        const id = await takeId(sellerId);
        const generated = { id, ...generateSecret({ sellerId, id }) };
        const input = { actor: actorOf('createWebhook', write), webhook, generated };
        const written = await run('createWebhook', input, write.idempotency);
        if (!('rejection' in written)) return reveal(written);
      }
    },
    rotateWebhookSecret: async (write, id, overlapMs) => {
      const generated = generateSecret({ sellerId: write.sellerId, id });
      const input = { actor: actorOf('rotateWebhookSecret', write), id, overlapMs, generated };
      return reveal(await run('rotateWebhookSecret', input, write.idempotency));
    },
    findWebhookSecrets: async (webhook) => {
      const encrypted = await queries.listWebhookSecrets(webhook, clock());
      const [newest, ...older] = encrypted.map((secret) => decrypt(webhook, secret));
      return newest && [newest, ...older.filter((secret) => secret !== undefined)];
    },
  };
}

/** The context that an encrypted secret is bound to (AEAD). Persisted: do not change it. */
export function contextOfWebhook(webhook: WebhookReference): string {
  return `webhook secret ${formatWebhookId(webhook)}`;
}
