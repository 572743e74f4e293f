/**
 * The portal's rate limits, against guessing secrets and for page requests.
 *
 * A failed attempt takes a token from the buckets of the client's address and of the account. A
 * browser that the account has used before has its own bucket, so an attacker who empties the
 * account's bucket does not lock out the owner (OWASP device cookies). Every e-mail has a bucket,
 * with or without an account, so the limits do not reveal which accounts exist.
 */
import type { AccountReference } from '../../../domain/access/account.ts';
import { AppError } from '../../../domain/error.ts';
import { PASSWORD_HASH_QUEUE_LIMIT } from '../../../domain/limits.ts';
import { rateLimitPrefix } from '../../../domain/network-address.ts';
import { HOUR_MS, MINUTE_MS } from '../../../domain/time.ts';
import { ConcurrencyLimiter } from '../../../http/concurrency-limiter.ts';
import { rateLimited } from '../../../http/rate-limit.ts';
import { makeRateLimiter, type RateLimiter } from '../../../runtime/rate-limiter.ts';
import type { SignedInSession } from '../../../store/account-store.ts';
import { RATE_LIMIT_ENTRIES_LIMIT } from '../../../store/limits.ts';
import {
  bucketOf, type ThrottleBucket, type ThrottleStore,
} from '../../../store/nodes/throttle-store.ts';
import {
  CHALLENGE_LIFE_MS, CONCURRENT_PASSWORD_CHECKS_PER_ACCOUNT_LIMIT, FAILED_SIGN_INS_LIMIT,
  FAILED_SIGN_INS_PER_ADDRESS_PER_MINUTE, FAILED_TOTP_LIMIT, LOGGED_FAILED_SIGN_INS_PER_MINUTE,
  PORTAL_ANONYMOUS_REQUESTS_PER_MINUTE, PORTAL_REQUESTS_PER_MINUTE,
  REGISTRATIONS_PER_ADDRESS_PER_HOUR, SIGN_IN_WINDOW_MS, TOTP_WINDOW_MS,
} from '../limits.ts';

interface Origin {
  readonly address: string;
  /** The id of a browser that the account has used before. */
  readonly device: string | undefined;
}

export class PortalLimits {
  readonly #store: ThrottleStore;
  readonly #requests: ReturnType<typeof makeRequestLimiters>;
  readonly #confirmations = new ConcurrencyLimiter<string>('password checks', {
    total: PASSWORD_HASH_QUEUE_LIMIT, perOwner: CONCURRENT_PASSWORD_CHECKS_PER_ACCOUNT_LIMIT,
  });

  /** @param clock For the limits that each node counts alone. */
  constructor(store: ThrottleStore, clock: () => number) {
    this.#store = store;
    this.#requests = makeRequestLimiters(clock);
  }

  /** Checks a password at the sign-in; a correct one is free. @throws AppError `rate_limited` */
  async tryPassword(
    email: string, { address, device }: Origin, check: () => Promise<boolean>,
  ): Promise<boolean> {
    if (device !== undefined) {
      return this.#attempt([bucketOf(PASSWORDS, `device ${device}`)], check);
    }
    const buckets = [
      bucketOf(ADDRESSES, rateLimitPrefix(address)), bucketOf(PASSWORDS, `email ${email}`),
    ];
    return this.#attempt(buckets, check);
  }

  /**
   * Checks a passkey at the sign-in; a correct one is free. It cannot be guessed, so failures count
   * for the client only, and cannot lock out its owner. @throws AppError `rate_limited`
   */
  async tryPasskey({ address, device }: Origin, check: () => Promise<boolean>): Promise<boolean> {
    const bucket = device === undefined ? bucketOf(ADDRESSES, rateLimitPrefix(address))
      : bucketOf(PASSWORDS, `device ${device}`);
    return this.#attempt([bucket], check);
  }

  /** Whether a challenge is used for the first time. */
  async takeChallenge(challenge: string): Promise<boolean> {
    return (await this.#store.takeThrottle(bucketOf(CHALLENGES, challenge))).isAllowed;
  }

  /** Checks a one-time password; a correct one is free. @throws AppError `rate_limited` */
  async tryTotp(
    account: AccountReference, device: string | undefined, check: () => Promise<boolean>,
  ): Promise<boolean> {
    const name = device === undefined ? nameOf(account) : `device ${device}`;
    return this.#attempt([bucketOf(ONE_TIME_PASSWORDS, name)], check);
  }

  /**
   * Checks a signed-in user's password; a correct one is free. Limits concurrent checks per
   * account, because each is slow and delays those of others.
   * @throws AppError `rate_limited`, `unavailable`
   */
  async tryConfirmation(
    account: AccountReference, check: () => Promise<boolean>,
  ): Promise<boolean> {
    const release = this.#confirmations.acquire(nameOf(account));
    try {
      return await this.#attempt([bucketOf(PASSWORDS, nameOf(account))], check);
    } finally {
      release();
    }
  }

  /** Counts a registration without an invitation. @throws AppError `rate_limited` */
  async takeRegistration(address: string): Promise<void> {
    await this.#take(bucketOf(REGISTRATIONS, rateLimitPrefix(address)));
  }

  /** Whether this failed sign-in of the account may be written to the audit log, by this node. */
  takeLogEntry(account: AccountReference): boolean {
    return this.#requests.logEntries.take(nameOf(account)).isAllowed;
  }

  /**
   * Limits page requests to this node per session, and per address without a session. A known
   * browser has its own bucket, so others with the same address (behind a proxy, all clients)
   * cannot keep it from signing in.
   * @throws AppError `rate_limited`
   */
  takePage(user: SignedInSession | undefined, { address, device }: Origin): void {
    const { sessions, anonymous } = this.#requests;
    const rate = user ? sessions.take(`${nameOf(user.account)} ${user.session.id}`)
      : anonymous.take(device === undefined ? rateLimitPrefix(address) : `device ${device}`);
    if (!rate.isAllowed) throw rateLimited(rate.retryAfterSeconds);
  }

  /** Takes a token from each bucket before the check; refunds them unless the check fails. */
  async #attempt(
    buckets: readonly ThrottleBucket[], check: () => Promise<boolean>,
  ): Promise<boolean> {
    const takenBuckets: ThrottleBucket[] = [];
    let isWrong = false;
    try {
      for (const bucket of buckets) {
        await this.#take(bucket);
        takenBuckets.push(bucket);
      }
      isWrong = !await check();
      return !isWrong;
    } finally {
      if (!isWrong) await Promise.all(takenBuckets.map((bucket) =>
        this.#store.refundThrottle(bucket)));
    }
  }

  async #take(bucket: ThrottleBucket): Promise<void> {
    const { isAllowed, retryAfterSeconds } = await this.#store.takeThrottle(bucket);
    if (isAllowed) return;
    const detail = `Too many attempts. Try again in ${formatWait(retryAfterSeconds)}.`;
    throw new AppError('rate_limited', detail, { retryAfterSeconds });
  }
}

const ADDRESSES = {
  kind: 'failed_sign_ins_of_address', limit: FAILED_SIGN_INS_PER_ADDRESS_PER_MINUTE,
  windowMs: MINUTE_MS,
};
const PASSWORDS = {
  kind: 'failed_passwords', limit: FAILED_SIGN_INS_LIMIT, windowMs: SIGN_IN_WINDOW_MS,
};
const ONE_TIME_PASSWORDS = {
  kind: 'failed_one_time_passwords', limit: FAILED_TOTP_LIMIT, windowMs: TOTP_WINDOW_MS,
};
/** Challenges expire earlier, also by the clock of a node that is late. */
const CHALLENGES = { kind: 'passkey_challenges', limit: 1, windowMs: 2 * CHALLENGE_LIFE_MS };
const REGISTRATIONS = {
  kind: 'registrations', limit: REGISTRATIONS_PER_ADDRESS_PER_HOUR, windowMs: HOUR_MS,
};

function nameOf({ sellerId, accountId }: AccountReference): string {
  return `account ${sellerId} ${accountId}`;
}

/** A node counts these alone: they protect its own work, and no secret. */
function makeRequestLimiters(clock: () => number) {
  const make = (limit: number): RateLimiter<string> =>
    makeRateLimiter({ limit, windowMs: MINUTE_MS }, RATE_LIMIT_ENTRIES_LIMIT, clock);
  return {
    logEntries: make(LOGGED_FAILED_SIGN_INS_PER_MINUTE),
    sessions: make(PORTAL_REQUESTS_PER_MINUTE),
    anonymous: make(PORTAL_ANONYMOUS_REQUESTS_PER_MINUTE),
  };
}

function formatWait(seconds: number): string {
  if (seconds < 100) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 100 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
}
