/**
 * What keeps secrets from being guessed, by token buckets for what was refused: of an address, of
 * an account, and of what is asked for again by somebody who is signed in. A browser that the
 * account has used before has a bucket of its own, so that nobody who empties that of an account
 * locks its owner out (OWASP, device cookies). An e-mail has a bucket whether it has an account or
 * not, so that none of this tells which accounts there are.
 */
import { PASSWORD_HASH_QUEUE_LIMIT } from '../../../domain/limits.ts';
import { hash } from 'node:crypto';
import { RATE_LIMIT_ENTRIES_LIMIT } from '../../../api/limits.ts';
import type { PagesRequest } from '../../../feature.ts';
import { AppError } from '../../../domain/error.ts';
import type { SellerId } from '../../../domain/id.ts';
import { rateLimitPrefix } from '../../../domain/network-address.ts';
import { HOUR_MS, MINUTE_MS } from '../../../domain/time.ts';
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
  /** Of a browser that the account is known to have used. */
  readonly device: string | undefined;
}

export class SignInLimits {
  readonly #addresses: RateLimiter<string>;
  readonly #passwords: RateLimiter<string>;
  readonly #totp: RateLimiter<string>;
  readonly #joins: RateLimiter<string>;
  readonly #notes: RateLimiter<SellerId>;
  readonly #checks = new ConcurrencyLimiter<SellerId>('password checks', {
    total: PASSWORD_HASH_QUEUE_LIMIT, perOwner: CONCURRENT_PASSWORD_CHECKS_PER_ACCOUNT_LIMIT,
  });

  constructor(clock: () => number) {
    const make = <Name = string>(limit: number, windowMs: number): RateLimiter<Name> =>
      new RateLimiter<Name>(limit, RATE_LIMIT_ENTRIES_LIMIT, clock, windowMs);
    this.#addresses = make(FAILED_SIGN_INS_PER_ADDRESS_PER_MINUTE, MINUTE_MS);
    this.#passwords = make(FAILED_SIGN_INS_LIMIT, SIGN_IN_WINDOW_MS);
    this.#totp = make(FAILED_TOTP_LIMIT, TOTP_WINDOW_MS);
    this.#joins = make(REGISTRATIONS_PER_ADDRESS_PER_HOUR, HOUR_MS);
    this.#notes = make(LOGGED_FAILED_SIGN_INS_PER_MINUTE, MINUTE_MS);
  }

  /**
   * Runs the check of a password at the sign-in; what it finds right does not count.
   * @throws AppError `rate_limited`
   */
  async tryPassword(
    email: string, { address, device }: Origin, check: () => Promise<boolean>,
  ): Promise<boolean> {
    if (device !== undefined) return attempt([[this.#passwords, `device ${device}`]], check);
    // Of one length, whatever was typed.
    const name = `email ${hash('sha256', email, 'base64')}`;
    return attempt([[this.#addresses, rateLimitPrefix(address)], [this.#passwords, name]], check);
  }

  /** The same for a one-time password. @throws AppError `rate_limited` */
  async tryTotp(
    sellerId: SellerId, device: string | undefined, check: () => Promise<boolean>,
  ): Promise<boolean> {
    const name = device === undefined ? `seller ${sellerId}` : `device ${device}`;
    return attempt([[this.#totp, name]], check);
  }

  /**
   * The same for the password of somebody who is signed in; few at once, for each takes long, and
   * others wait for theirs.
   * @throws AppError `rate_limited`, `unavailable`
   */
  async tryAgain(sellerId: SellerId, check: () => Promise<boolean>): Promise<boolean> {
    const end = this.#checks.acquire(sellerId);
    try {
      return await attempt([[this.#passwords, `seller ${sellerId}`]], check);
    } finally {
      end();
    }
  }

  /** Opening a shop without an invitation. @throws AppError `rate_limited` */
  takeJoin(address: string): void {
    take(this.#joins, rateLimitPrefix(address));
  }

  /** Whether the log takes down one more refusal of this account. */
  takeNote(sellerId: SellerId): boolean {
    return this.#notes.take(sellerId).isAllowed;
  }
}

/** Takes a token of each bucket before the check, and puts them back unless it says no. */
async function attempt(
  buckets: readonly (readonly [limiter: RateLimiter<string>, name: string])[],
  check: () => Promise<boolean>,
): Promise<boolean> {
  const taken: (() => void)[] = [];
  let isRefused = false;
  try {
    for (const [limiter, name] of buckets) {
      take(limiter, name);
      taken.push(() => limiter.giveBack(name));
    }
    isRefused = !await check();
    return !isRefused;
  } finally {
    if (!isRefused) for (const giveBack of taken) giveBack();
  }
}

function take(limiter: RateLimiter<string>, name: string): void {
  const { isAllowed, retryAfterSeconds } = limiter.take(name);
  if (isAllowed) return;
  const detail = `Too many attempts. Try again in ${describeWait(retryAfterSeconds)}.`;
  throw new AppError('rate_limited', detail, { retryAfterSeconds });
}

function describeWait(seconds: number): string {
  if (seconds < 100) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 100 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
}

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
    store: AccountStore, page: PagesRequest, user: SignedInSession | undefined,
  ): Promise<void> {
    const rate = user
      ? this.#own.take(`${user.account.sellerId} ${user.session.id}`)
      : this.#open.take(await nameOf(store, page));
    if (!rate.isAllowed) throw rateLimited(rate.retryAfterSeconds);
  }
}

async function nameOf(store: AccountStore, { request, address }: PagesRequest): Promise<string> {
  const device = await readDevice(store, request.headers.cookie);
  return device ? `device ${device.id}` : rateLimitPrefix(address);
}
