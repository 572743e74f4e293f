/**
 * The portal's rate limits, against guessing secrets and for page requests.
 *
 * A failed attempt takes a token from the buckets of the client's address and of the account. A
 * browser that the account has used before has its own bucket, so an attacker who empties the
 * account's bucket does not lock out the owner (OWASP device cookies). Every e-mail has a bucket,
 * with or without an account, so the limits do not reveal which accounts exist.
 */
import { hash } from 'node:crypto';
import { RATE_LIMIT_ENTRIES_LIMIT } from '../../../api/limits.ts';
import { AppError } from '../../../domain/error.ts';
import type { SellerId } from '../../../domain/id.ts';
import { PASSWORD_HASH_QUEUE_LIMIT } from '../../../domain/limits.ts';
import { rateLimitPrefix } from '../../../domain/network-address.ts';
import { HOUR_MS } from '../../../domain/time.ts';
import { ConcurrencyLimiter } from '../../../http/concurrency-limiter.ts';
import { rateLimited, RateLimiter } from '../../../http/rate-limit.ts';
import type { SignedInSession } from '../../../store/account-store.ts';
import {
  CONCURRENT_PASSWORD_CHECKS_PER_ACCOUNT_LIMIT, FAILED_SIGN_INS_LIMIT,
  FAILED_SIGN_INS_PER_ADDRESS_PER_MINUTE, FAILED_TOTP_LIMIT, LOGGED_FAILED_SIGN_INS_PER_MINUTE,
  PORTAL_ANONYMOUS_REQUESTS_PER_MINUTE, PORTAL_REQUESTS_PER_MINUTE,
  REGISTRATIONS_PER_ADDRESS_PER_HOUR, SIGN_IN_WINDOW_MS, TOTP_WINDOW_MS,
} from '../limits.ts';

interface Origin {
  readonly address: string;
  /** The id of a browser that the account has used before. */
  readonly device: string | undefined;
}

type Bucket = readonly [limiter: RateLimiter<string>, name: string];

export class PortalLimits {
  readonly #buckets: ReturnType<typeof makeBuckets>;
  readonly #confirmations = new ConcurrencyLimiter<SellerId>('password checks', {
    total: PASSWORD_HASH_QUEUE_LIMIT, perOwner: CONCURRENT_PASSWORD_CHECKS_PER_ACCOUNT_LIMIT,
  });

  constructor(clock: () => number) {
    this.#buckets = makeBuckets(clock);
  }

  /** Checks a password at the sign-in; a correct one is free. @throws AppError `rate_limited` */
  async tryPassword(
    email: string, { address, device }: Origin, check: () => Promise<boolean>,
  ): Promise<boolean> {
    const { addresses, passwords } = this.#buckets;
    if (device !== undefined) return attempt([[passwords, `device ${device}`]], check);
    // Hashed, so every name takes the same memory.
    const name = `email ${hash('sha256', email, 'base64')}`;
    return attempt([[addresses, rateLimitPrefix(address)], [passwords, name]], check);
  }

  /** Checks a one-time password; a correct one is free. @throws AppError `rate_limited` */
  async tryTotp(
    sellerId: SellerId, device: string | undefined, check: () => Promise<boolean>,
  ): Promise<boolean> {
    const name = device === undefined ? `seller ${sellerId}` : `device ${device}`;
    return attempt([[this.#buckets.totp, name]], check);
  }

  /**
   * Checks a signed-in user's password; a correct one is free. Limits concurrent checks per seller,
   * because each is slow and delays those of other sellers.
   * @throws AppError `rate_limited`, `unavailable`
   */
  async tryConfirmation(sellerId: SellerId, check: () => Promise<boolean>): Promise<boolean> {
    const release = this.#confirmations.acquire(sellerId);
    try {
      return await attempt([[this.#buckets.passwords, `seller ${sellerId}`]], check);
    } finally {
      release();
    }
  }

  /** Counts a registration without an invitation. @throws AppError `rate_limited` */
  takeRegistration(address: string): void {
    take([this.#buckets.registrations, rateLimitPrefix(address)]);
  }

  /** Whether this failed sign-in of the account may be written to the audit log. */
  takeLogEntry(sellerId: SellerId): boolean {
    return this.#buckets.logEntries.take(String(sellerId)).isAllowed;
  }

  /**
   * Limits page requests per session, and per address without a session. A known browser has its
   * own bucket, so others with the same address (behind a proxy, all clients) cannot keep it from
   * signing in.
   * @throws AppError `rate_limited`
   */
  takePage(user: SignedInSession | undefined, { address, device }: Origin): void {
    const { sessions, anonymous } = this.#buckets;
    const rate = user ? sessions.take(`${user.account.sellerId} ${user.session.id}`)
      : anonymous.take(device === undefined ? rateLimitPrefix(address) : `device ${device}`);
    if (!rate.isAllowed) throw rateLimited(rate.retryAfterSeconds);
  }
}

function makeBuckets(clock: () => number) {
  const make = (limit: number, windowMs?: number): RateLimiter<string> =>
    new RateLimiter(limit, RATE_LIMIT_ENTRIES_LIMIT, clock, windowMs);
  return {
    addresses: make(FAILED_SIGN_INS_PER_ADDRESS_PER_MINUTE),
    passwords: make(FAILED_SIGN_INS_LIMIT, SIGN_IN_WINDOW_MS),
    totp: make(FAILED_TOTP_LIMIT, TOTP_WINDOW_MS),
    registrations: make(REGISTRATIONS_PER_ADDRESS_PER_HOUR, HOUR_MS),
    logEntries: make(LOGGED_FAILED_SIGN_INS_PER_MINUTE),
    sessions: make(PORTAL_REQUESTS_PER_MINUTE),
    anonymous: make(PORTAL_ANONYMOUS_REQUESTS_PER_MINUTE),
  };
}

/** Takes a token from each bucket before the check; refunds them unless the check fails. */
async function attempt(
  buckets: readonly Bucket[], check: () => Promise<boolean>,
): Promise<boolean> {
  const taken: Bucket[] = [];
  let isWrong = false;
  try {
    for (const bucket of buckets) {
      take(bucket);
      taken.push(bucket);
    }
    isWrong = !await check();
    return !isWrong;
  } finally {
    if (!isWrong) for (const [limiter, name] of taken) limiter.refund(name);
  }
}

function take([limiter, name]: Bucket): void {
  const { isAllowed, retryAfterSeconds } = limiter.take(name);
  if (isAllowed) return;
  const detail = `Too many attempts. Try again in ${formatWait(retryAfterSeconds)}.`;
  throw new AppError('rate_limited', detail, { retryAfterSeconds });
}

function formatWait(seconds: number): string {
  if (seconds < 100) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 100 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
}
