/**
 * The webhooks of the sellers for whom this node delivers, in memory. One query in an interval
 * follows the sellers: their positions, and the versions that changes of webhooks increment.
 * Webhooks are read again when the version has moved.
 */
import type { SellerId } from '../../domain/id.ts';
import type { Webhook } from '../../domain/webhooks/webhook.ts';
import { repeat } from '../../runtime/repeat.ts';
import { WEBHOOK_POSITION_POLL_PERCENT, WEBHOOK_RETRY_LIMIT_MS } from '../limits.ts';
import type { DueQuery, DueWebhook } from '../webhook-store.ts';

/** What follows a seller's catalogue and webhooks. */
export interface SellerVersion {
  readonly id: SellerId;
  readonly position: number;
  /** Moves when a webhook changes, and when the seller is disabled or enabled. */
  readonly version: string;
  readonly isDisabled: boolean;
}

/** Where an adapter keeps webhooks. */
export interface FollowedWebhooks {
  findVersions(ids: readonly SellerId[]): Promise<readonly SellerVersion[]>;
  /** Reads the versions first: what is newer than its version is read again. */
  readWebhooks(ids: readonly SellerId[]): Promise<{
    readonly versions: readonly SellerVersion[]; readonly webhooks: readonly Webhook[];
  }>;
}

interface FollowedSeller {
  readonly lease: AbortSignal;
  position: number;
  version: string;
  /** None while the seller is disabled. */
  webhooks: readonly Webhook[];
  /** Whether the webhooks must be read. */
  isOutdated: boolean;
}

const UNREAD = { position: 0, version: '', webhooks: [], isOutdated: true };

export class DueWebhooks {
  readonly #store: FollowedWebhooks;
  readonly #onDue: () => void;
  readonly #sellers = new Map<SellerId, FollowedSeller>();
  readonly #polling: ReturnType<typeof repeat>;
  #pollAt = 0;
  #reading = Promise.resolve();

  constructor(store: FollowedWebhooks, pollMs: number, onDue: () => void) {
    this.#store = store;
    this.#onDue = onDue;
    this.#polling = repeat(() => this.#poll(), pollMs);
  }

  /** Follows exactly these sellers, each for the time of its lease. */
  follow(leases: ReadonlyMap<SellerId, AbortSignal>): void {
    for (const [id, { lease }] of this.#sellers) {
      if (leases.get(id) !== lease) this.#sellers.delete(id);
    }
    const added = [...leases].filter(([id]) => !this.#sellers.has(id));
    for (const [id, lease] of added) this.#sellers.set(id, { lease, ...UNREAD });
    if (added.length > 0) this.#onDue();
  }

  /** What is listed from now on includes the change. */
  noteChange(sellerId: SellerId): void {
    const seller = this.#sellers.get(sellerId);
    if (seller) seller.isOutdated = true;
  }

  async list({ at, isFailing, limit }: DueQuery): Promise<readonly DueWebhook[]> {
    const due = (await this.#listActive(isFailing)).filter(({ position, webhook }) =>
      (webhook.message !== undefined || webhook.position < position)
      && (webhook.nextAttemptAt <= at
        // A wait longer than the maximum was started by a clock that was ahead: it is over.
        || (isFailing && webhook.nextAttemptAt > at + WEBHOOK_RETRY_LIMIT_MS)));
    return due.sort(compareAttempts).slice(0, limit);
  }

  async findNextRetry(after: number): Promise<number | undefined> {
    return findEarliest((await this.#listActive(true))
      .map(({ webhook }) => webhook.nextAttemptAt).filter((at) => at > after));
  }

  /** Of the webhooks as they were read last, since metrics must not wait for the store. */
  findOldestMessageTime(): number | undefined {
    return findEarliest(this.#listRead().flatMap(({ webhook }) => webhook.message?.at ?? []));
  }

  close(): Promise<void> {
    this.#sellers.clear();
    return this.#polling.stop();
  }

  /** With their sellers' positions and leases. */
  async #listActive(isFailing: boolean) {
    // One caller after another, so that each waits for what others are reading.
    this.#reading = this.#reading.catch(() => {}).then(() => this.#readOutdated());
    await this.#reading;
    return this.#listRead().filter(({ webhook }) => webhook.failures > 0 === isFailing);
  }

  /** The active ones that were read last. */
  #listRead() {
    return [...this.#sellers.values()].flatMap(({ lease, position, webhooks }) =>
      (lease.aborted ? [] : webhooks).filter(({ status }) => status === 'active')
        .map((webhook) => ({ webhook, lease, position })));
  }

  async #readOutdated(): Promise<void> {
    const outdated = new Map([...this.#sellers]
      .filter(([, { isOutdated, lease }]) => isOutdated && !lease.aborted));
    if (outdated.size === 0) return;
    for (const seller of outdated.values()) seller.isOutdated = false;
    const { versions, webhooks } = await this.#store.readWebhooks([...outdated.keys()])
      .catch((error: unknown) => {
        for (const seller of outdated.values()) seller.isOutdated = true;
        throw error;
      });
    const bySeller = Map.groupBy(webhooks, ({ sellerId }) => sellerId);
    for (const { id, position, version, isDisabled } of versions) {
      const seller = outdated.get(id);
      if (!seller) continue;
      seller.position = Math.max(seller.position, position);
      seller.version = version;
      seller.webhooks = isDisabled ? [] : bySeller.get(id) ?? [];
    }
  }

  async #poll(): Promise<void> {
    const startedAt = performance.now();
    if (this.#sellers.size === 0 || startedAt < this.#pollAt) return;
    const versions = await this.#store.findVersions([...this.#sellers.keys()]);
    // The more sellers there are, the longer a poll takes, and the pause after it.
    const durationMs = performance.now() - startedAt;
    this.#pollAt = startedAt + durationMs * 100 / WEBHOOK_POSITION_POLL_PERCENT;
    const moved = versions.filter(({ id, position, version }) => {
      const seller = this.#sellers.get(id);
      if (!seller || (position <= seller.position && version === seller.version)) return false;
      seller.position = position;
      seller.isOutdated ||= version !== seller.version;
      return true;
    });
    if (moved.length > 0) this.#onDue();
  }
}

function findEarliest(times: readonly number[]): number | undefined {
  return times.length === 0 ? undefined : times.reduce((one, other) => Math.min(one, other));
}

function compareAttempts({ webhook: one }: DueWebhook, { webhook: other }: DueWebhook): number {
  return one.nextAttemptAt - other.nextAttemptAt || one.sellerId - other.sellerId
    || one.id - other.id;
}
