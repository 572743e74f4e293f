/**
 * Delivery of webhooks by several nodes. Sellers are in buckets, and a node delivers for those
 * whose leases it holds. It renews them, takes those that are free or have expired, up to its
 * share, and stops by its own monotonic clock, counted from before it sent the renewal.
 */
import type { SellerId } from '../../domain/id.ts';
import { repeat } from '../../runtime/repeat.ts';
import {
  NODE_EXPIRY_MS, NODE_RENEW_INTERVAL_MS, NODE_TERM_PERCENT, WEBHOOK_POSITION_POLL_MS,
} from '../limits.ts';
import type { MutationName } from '../rules/mutations/registry.ts';
import type { DeliveryMember, DueQuery } from '../webhook-store.ts';
import { DueWebhooks, type FollowedWebhooks } from './due-webhooks.ts';

/** Where an adapter keeps leases. */
export interface WebhookLeases extends FollowedWebhooks {
  /**
   * Renews the leases of a node for this time, and takes others, up to its share of the buckets.
   * Returns the buckets that it holds, and the bucket of each seller in them.
   */
  renew(nodeId: string, termMs: number): Promise<{
    readonly buckets: ReadonlySet<number>; readonly sellers: ReadonlyMap<SellerId, number>;
  }>;
  /** Gives up the leases of a node, except those of some buckets. */
  giveUp(nodeId: string, except: ReadonlySet<number>): Promise<void>;
  /** The others share its buckets at once. */
  removeNode(nodeId: string): Promise<void>;
}

/** How often nodes renew what they hold, and when others take over from one that does not. */
export const NODE_INTERVALS = { renewMs: NODE_RENEW_INTERVAL_MS, expiryMs: NODE_EXPIRY_MS };

export function openDelivery(
  leases: WebhookLeases, intervals = NODE_INTERVALS, pollMs = WEBHOOK_POSITION_POLL_MS,
) {
  const members = new Set<LeaseMember>();
  return {
    async join(onDue: () => void): Promise<DeliveryMember> {
      const member = new LeaseMember(leases, intervals, new DueWebhooks(leases, pollMs, onDue));
      members.add(member);
      return member;
    },
    /** Call it after a mutation of webhooks by this node. */
    noteMutation(name: MutationName, sellerId: SellerId): void {
      for (const member of members) member.noteMutation(name, sellerId);
    },
    /** Ends all leases, and gives them up. */
    async close(): Promise<void> {
      await Promise.all([...members].map((member) => member.leave()));
    },
  };
}

class LeaseMember implements DeliveryMember {
  readonly #store: WebhookLeases;
  readonly #expiryMs: number;
  readonly #due: DueWebhooks;
  readonly #renewal: ReturnType<typeof repeat>;
  readonly #id = crypto.randomUUID();
  /** By bucket. */
  readonly #leases = new Map<number, AbortController>();
  #endsAt = 0;
  #expiry: NodeJS.Timeout | undefined;
  #left: Promise<void> | undefined;

  constructor(
    store: WebhookLeases, { renewMs, expiryMs }: typeof NODE_INTERVALS, due: DueWebhooks,
  ) {
    this.#store = store;
    this.#expiryMs = expiryMs;
    this.#due = due;
    this.#renewal = repeat(() => this.#renew(), renewMs);
  }

  listDueWebhooks(query: DueQuery): ReturnType<DeliveryMember['listDueWebhooks']> {
    this.#endIfExpired();
    return this.#due.list(query);
  }

  findNextRetry(after: number): Promise<number | undefined> {
    return this.#due.findNextRetry(after);
  }

  readMetrics(): ReturnType<DeliveryMember['readMetrics']> {
    this.#endIfExpired();
    return { leases: this.#leases.size, oldestMessageAt: this.#due.findOldestMessageTime() };
  }

  leave(): Promise<void> {
    return this.#left ??= this.#leave();
  }

  noteMutation(name: MutationName, sellerId: SellerId): void {
    this.#due.noteChange(sellerId);
    if (name === 'createWebhook') this.#renewal.runNow(); // it may be the seller's first
  }

  async #leave(): Promise<void> {
    this.#endExcept(new Set());
    clearTimeout(this.#expiry);
    await Promise.all([this.#due.close(), this.#renewal.stop()]);
    const { giveUp, removeNode } = this.#store;
    await Promise.allSettled([giveUp(this.#id, new Set()), removeNode(this.#id)]); // or they expire
  }

  async #renew(): Promise<void> {
    if (this.#left) return;
    const endsAt = performance.now() + this.#expiryMs * NODE_TERM_PERCENT / 100;
    const { buckets, sellers } = await this.#store.renew(this.#id, this.#expiryMs);
    if (this.#left || performance.now() >= endsAt) return;
    this.#endIfExpired(); // before the renewal: another node may have had them since
    this.#endsAt = endsAt;
    clearTimeout(this.#expiry);
    const end = (): void => void this.#endExcept(new Set()); // timers may be a little early, too
    this.#expiry = setTimeout(end, endsAt - performance.now()).unref();
    const hasSurplus = this.#endExcept(buckets);
    for (const bucket of buckets) {
      if (!this.#leases.has(bucket)) this.#leases.set(bucket, new AbortController());
    }
    this.#due.follow(new Map([...sellers].flatMap(([id, bucket]) => {
      const lease = this.#leases.get(bucket)?.signal;
      return lease ? [[id, lease] as const] : [];
    })));
    // Another node may begin only now that this one sends nothing more.
    if (hasSurplus) await this.#store.giveUp(this.#id, buckets);
  }

  /** Also before due webhooks are listed: a process that was suspended has late timers. */
  #endIfExpired(): void {
    if (performance.now() >= this.#endsAt) this.#endExcept(new Set());
  }

  /** Returns whether it has ended a lease. */
  #endExcept(buckets: ReadonlySet<number>): boolean {
    const ended = [...this.#leases].filter(([bucket]) => !buckets.has(bucket));
    for (const [bucket, lease] of ended) {
      this.#leases.delete(bucket);
      lease.abort();
    }
    return ended.length > 0;
  }
}
