/**
 * The webhook port on shared SQL. Secrets are encrypted and decrypted here, so mutations and
 * idempotency records get only encrypted ones.
 */
import { AppError } from '../../../domain/error.ts';
import {
  formatWebhookId, randomId, type SellerId, type WebhookId, type WebhookReference,
} from '../../../domain/id.ts';
import {
  generateWebhookSecret, UNREADABLE_SECRET, type WebhookSecret,
} from '../../../domain/webhooks/webhook-signature.ts';
import type { IdempotencyScope } from '../../rules/idempotency.ts';
import type { ServerKey } from '../../rules/server-key.ts';
import type { WebhookStore, WebhookWithSecret } from '../../webhook-store.ts';
import type { Actor, WriteContext } from '../../write.ts';
import type { webhookDeliveryMutations } from './webhook-deliveries.ts';
import type { webhookMutations, WrittenSecret } from './webhook-mutations.ts';
import type { webhookQueries } from './webhooks.ts';

type Mutations =
  ReturnType<typeof webhookMutations> & ReturnType<typeof webhookDeliveryMutations>;
type Queries = ReturnType<typeof webhookQueries>;

/** Runs a mutation in a transaction, or finds its recorded outcome. */
export type RunWebhookMutation = <Name extends keyof Mutations>(
  name: Name, input: Parameters<Mutations[Name]>[0], idempotency?: IdempotencyScope,
) => ReturnType<Mutations[Name]>;

interface WebhookMethodsOptions {
  readonly key: ServerKey;
  readonly run: RunWebhookMutation;
  readonly queries: Pick<Queries, 'findLastWebhookId' | 'listWebhookSecrets'>;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly scopeOf: (write: WriteContext) => IdempotencyScope | undefined;
}

/** The methods that are neither plain queries nor about shares of the delivery. */
export function webhookMethods(
  options: WebhookMethodsOptions,
): Pick<WebhookStore, keyof Mutations | 'findWebhookSecrets'> {
  const { run, scopeOf } = options;
  return {
    ...secretMethods(options),
    patchWebhook: (write, id, patch) =>
      run('patchWebhook', { actor: actorOf(write), id, patch }, scopeOf(write)),
    deleteWebhook: (write, id) =>
      run('deleteWebhook', { actor: actorOf(write), id }, scopeOf(write)),
    retryWebhook: (write, id) => run('retryWebhook', { actor: actorOf(write), id }, scopeOf(write)),
    replayWebhook: (write, id, position) =>
      run('replayWebhook', { actor: actorOf(write), id, position }, scopeOf(write)),
    beginWebhookMessage: (webhook, position, message) =>
      run('beginWebhookMessage', { webhook, position, message }),
    endWebhookAttempt: (webhook, message, result, step) =>
      run('endWebhookAttempt', { webhook, message, result, step }),
    noteWebhookAttempt: (webhook, message, result) =>
      run('noteWebhookAttempt', { webhook, message, result }),
    disableWebhook: (webhook, reason) => run('disableWebhook', { webhook, reason }),
  };
}

/** The methods that generate or read secrets. */
function secretMethods(
  { key, run, queries, clock, scopeOf }: WebhookMethodsOptions,
): Pick<WebhookStore, 'createWebhook' | 'rotateWebhookSecret' | 'findWebhookSecrets'> {
  let lastId = 0;

  /**
   * Assigned here, because the secret's encryption is bound to it; above all ids of this seller.
   * Random within its millisecond, in which another process may create one, too.
   */
  async function takeId(sellerId: SellerId): Promise<WebhookId> {
    const stored = await queries.findLastWebhookId(sellerId);
    lastId = Math.max(stored + 1, lastId + 1, randomId(clock()));
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
        const input = { actor: actorOf(write), webhook, generated };
        const written = await run('createWebhook', input, scopeOf(write));
        if (!('rejection' in written)) return reveal(written);
      }
    },
    rotateWebhookSecret: async (write, id, overlapMs) => {
      const generated = generateSecret({ sellerId: write.sellerId, id });
      const input = { actor: actorOf(write), id, overlapMs, generated };
      return reveal(await run('rotateWebhookSecret', input, scopeOf(write)));
    },
    findWebhookSecrets: async (webhook) => {
      const encrypted = await queries.listWebhookSecrets(webhook, clock());
      const [newest, ...older] = encrypted.map((secret) => decrypt(webhook, secret));
      return newest && [newest, ...older.filter((secret) => secret !== undefined)];
    },
  };
}

/** Includes the name and the address, for the audit log, and the account, whose role is checked. */
function actorOf({ sellerId, keyId, actorName, accountId, address = '' }: Actor): Actor {
  return { sellerId, keyId, actorName, accountId, address };
}

/** The context that an encrypted secret is bound to (AEAD). Persisted: do not change it. */
export function contextOfWebhook(webhook: WebhookReference): string {
  return `webhook secret ${formatWebhookId(webhook)}`;
}
