/**
 * Rate limits of the portal: against guessing secrets, and for pages.
 *
 * Failed attempts take tokens from the bucket of the client's address and of the account. A browser
 * that the account has used before has its own bucket, so nobody who empties the account's bucket
 * locks out its owner (OWASP device cookies). An e-mail has a bucket with or without an account, so
 * the limits do not reveal which accounts exist.
 */
import { hash } from 'node:crypto';
import { RATE_LIMIT_ENTRIES_LIMIT } from '../../../api/limits.ts';
import { AppError } from '../../../domain/error.ts';
import type { SellerId } from '../../../domain/id.ts';
import { PASSWORD_HASH_QUEUE_LIMIT } from '../../../domain/limits.ts';
import { rateLimitPrefix } from '../../../domain/network-address.ts';
import { HOUR_MS, MINUTE_MS } from '../../../domain/time.ts';
import type { PagesRequest } from '../../../feature.ts';
import { ConcurrencyLimiter } from '../../../http/concurrency-limiter.ts';
import { rateLimited, RateLimiter } from '../../../http/rate-limit.ts';
import type { AccountStore, SignedInSession } from '../../../store/account-store.ts';
import {
  CONCURRENT_PASSWORD_CHECKS_PER_ACCOUNT_LIMIT, FAILED_SIGN_INS_LIMIT,
  FAILED_SIGN_INS_PER_ADDRESS_PER_MINUTE, FAILED_TOTP_LIMIT, LOGGED_FAILED_SIGN_INS_PER_MINUTE,
  PORTAL_ANONYMOUS_REQUESTS_PER_MINUTE, PORTAL_REQUESTS_PER_MINUTE,
  REGISTRATIONS_PER_ADDRESS_PER_HOUR, SIGN_IN_WINDOW_MS, TOTP_WINDOW_MS,
} from '../limits.ts';
import { readDevice } from './device.ts';

interface Origin {
  readonly address: string;
  /** The id of a browser that the account is known to have used. */
  readonly device: string | undefined;
}

type Bucket = readonly [limiter: RateLimiter<string>, name: string];

export class SignInLimits {
  readonly #addresses: RateLimiter<string>;
  readonly #passwords: RateLimiter<string>;
  readonly #totp: RateLimiter<string>;
  readonly #registrations: RateLimiter<string>;
  readonly #logEntries: RateLimiter<SellerId>;
  readonly #confirmations = new ConcurrencyLimiter<SellerId>('password checks', {
    total: PASSWORD_HASH_QUEUE_LIMIT, perOwner: CONCURRENT_PASSWORD_CHECKS_PER_ACCOUNT_LIMIT,
  });

  constructor(clock: () => number) {
    const make = <Name = string>(limit: number, windowMs: number): RateLimiter<Name> =>
      new RateLimiter<Name>(limit, RATE_LIMIT_ENTRIES_LIMIT, clock, windowMs);
    this.#addresses = make(FAILED_SIGN_INS_PER_ADDRESS_PER_MINUTE, MINUTE_MS);
    this.#passwords = make(FAILED_SIGN_INS_LIMIT, SIGN_IN_WINDOW_MS);
    this.#totp = make(FAILED_TOTP_LIMIT, TOTP_WINDOW_MS);
    this.#registrations = make(REGISTRATIONS_PER_ADDRESS_PER_HOUR, HOUR_MS);
    this.#logEntries = make(LOGGED_FAILED_SIGN_INS_PER_MINUTE, MINUTE_MS);
  }

  /**
   * Checks a password at the sign-in; a right one does not count. @throws AppError `rate_limited`
   */
  async tryPassword(
    email: string, { address, device }: Origin, check: () => Promise<boolean>,
  ): Promise<boolean> {
    if (device !== undefined) return attempt([[this.#passwords, `device ${device}`]], check);
    // Hashed, so that a name takes the same memory whatever was typed.
    const name = `email ${hash('sha256', email, 'base64')}`;
    return attempt([[this.#addresses, rateLimitPrefix(address)], [this.#passwords, name]], check);
  }

  /** Checks a one-time password; a right one does not count. @throws AppError `rate_limited` */
  async tryTotp(
    sellerId: SellerId, device: string | undefined, check: () => Promise<boolean>,
  ): Promise<boolean> {
    const name = device === undefined ? `seller ${sellerId}` : `device ${device}`;
    return attempt([[this.#totp, name]], check);
  }

  /**
   * Checks the password of a signed-in user; a right one does not count. Few run at the same time
   * per seller, because each takes long and others wait for theirs.
   * @throws AppError `rate_limited`, `unavailable`
   */
  async tryConfirmation(sellerId: SellerId, check: () => Promise<boolean>): Promise<boolean> {
    const release = this.#confirmations.acquire(sellerId);
    try {
      return await attempt([[this.#passwords, `seller ${sellerId}`]], check);
    } finally {
      release();
    }
  }

  /** For opening a shop without an invitation. @throws AppError `rate_limited` */
  takeRegistration(address: string): void {
    take([this.#registrations, rateLimitPrefix(address)]);
  }

  /** Whether one more failed sign-in of this account is written to the audit log. */
  takeLogEntry(sellerId: SellerId): boolean {
    return this.#logEntries.take(sellerId).isAllowed;
  }
}

/** Takes a token from each bucket before the check, and returns them unless the check fails. */
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

/**
 * Limits page requests per session, and per address without one. A known browser has its own
 * bucket, so nobody with the same address (behind a proxy, everybody) keeps it from the sign-in.
 */
export class PageRateLimits {
  readonly #sessions: RateLimiter<string>;
  readonly #anonymous: RateLimiter<string>;

  constructor(clock: () => number) {
    this.#sessions = new RateLimiter(PORTAL_REQUESTS_PER_MINUTE, RATE_LIMIT_ENTRIES_LIMIT, clock);
    this.#anonymous = new RateLimiter(
      PORTAL_ANONYMOUS_REQUESTS_PER_MINUTE, RATE_LIMIT_ENTRIES_LIMIT, clock,
    );
  }

  /** @throws AppError `rate_limited` */
  async take(
    store: AccountStore, { request, address }: PagesRequest, user: SignedInSession | undefined,
  ): Promise<void> {
    const device = user ? undefined : await readDevice(store, request.headers.cookie);
    const rate = user ? this.#sessions.take(`${user.account.sellerId} ${user.session.id}`)
      : this.#anonymous.take(device ? `device ${device.id}` : rateLimitPrefix(address));
    if (!rate.isAllowed) throw rateLimited(rate.retryAfterSeconds);
  }
}
