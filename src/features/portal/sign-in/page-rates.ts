/**
 * How often pages may be asked for: by session, and without one by address. A browser that an
 * account has used before counts alone, so that nobody with the same address (all may have that of
 * one server before this one) keeps it from its sign-in.
 */
import type { PortalRequest } from '../../../api/route.ts';
import { RATE_LIMIT_ENTRIES_LIMIT } from '../../../api/limits.ts';
import { rateLimitPrefix } from '../../../domain/network-address.ts';
import { RateLimiter, rateLimited } from '../../../http/rate-limit.ts';
import type { SignedInSession } from '../../../store/account-store.ts';
import type { Store } from '../../../store/store.ts';
import { readDevice } from './device.ts';
import { PORTAL_ANONYMOUS_REQUESTS_PER_MINUTE, PORTAL_REQUESTS_PER_MINUTE } from '../limits.ts';

export class PageRateLimits {
  readonly #own: RateLimiter<string>;
  readonly #open: RateLimiter<string>;

  constructor(clock: () => number) {
    this.#own = new RateLimiter(PORTAL_REQUESTS_PER_MINUTE, RATE_LIMIT_ENTRIES_LIMIT, clock);
    this.#open = new RateLimiter(
      PORTAL_ANONYMOUS_REQUESTS_PER_MINUTE, RATE_LIMIT_ENTRIES_LIMIT, clock,
    );
  }

  /** @throws AppError `rate_limited` */
  async take(
    store: Store, page: PortalRequest, user: SignedInSession | undefined,
  ): Promise<void> {
    const rate = user
      ? this.#own.take(`${user.account.sellerId} ${user.session.id}`)
      : this.#open.take(await nameOf(store, page));
    if (!rate.isAllowed) throw rateLimited(rate.retryAfterSeconds);
  }
}

async function nameOf(store: Store, { request, address }: PortalRequest): Promise<string> {
  const device = await readDevice(store, request.headers.cookie);
  return device ? `device ${device.id}` : rateLimitPrefix(address);
}
