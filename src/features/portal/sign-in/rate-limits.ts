/**
 * The portal's rate limits, against guessing secrets and for page requests.
 *
 * A failed attempt takes a token from the buckets of the client's address and of the account. A
 * browser that the account has used before has its own bucket, so an attacker who empties the
 * account's bucket does not lock out the owner (OWASP device cookies). Every e-mail has a bucket,
 * with or without an account, so the limits do not reveal which accounts exist. Right passwords
 * count towards a limit of their own: hashing is costly, and sellers take turns.
 */
import type { AccountReference } from '../../../domain/access/account.ts';
import { AppError } from '../../../domain/error.ts';
import type { SellerId } from '../../../domain/id.ts';
import { rateLimitPrefix } from '../../../domain/network-address.ts';
import type { PasswordClient } from '../../../domain/access/password.ts';
import { HOUR_MS, MINUTE_MS } from '../../../domain/time.ts';
import {
  acquireAll, ConcurrencyLimiter, type Release,
} from '../../../domain/concurrency-limiter.ts';
import { rateLimited } from '../../../http/rate-limit.ts';
import { type Clock, monotonicOf } from '../../../runtime/clock.ts';
import { makeRateLimiter, type RateLimiter } from '../../../runtime/rate-limiter.ts';
import type { SignedInSession } from '../../../store/account-store.ts';
import { RATE_LIMIT_ENTRIES_LIMIT } from '../../../store/limits.ts';
import {
  bucketOf, type ThrottleBucket, type ThrottleStore,
} from '../../../store/nodes/throttle-store.ts';
import {
  CHALLENGE_LIFE_MS, FAILED_SIGN_INS_LIMIT, FAILED_SIGN_INS_PER_ADDRESS_PER_MINUTE,
  FAILED_TOTP_LIMIT, LOGGED_FAILED_SIGN_INS_PER_MINUTE, PASSWORD_CHECKS_LIMIT,
  PORTAL_ANONYMOUS_REQUESTS_PER_MINUTE, PORTAL_REQUESTS_PER_MINUTE,
  PORTAL_STREAMS_PER_SELLER_LIMIT, REGISTRATIONS_PER_ADDRESS_PER_HOUR, SIGN_IN_WINDOW_MS,
  STREAMS_PER_ACCOUNT_LIMIT, TOTP_WINDOW_MS,
} from '../limits.ts';

interface Origin {
  readonly address: string;
  /** The id of a browser that the account has used before. */
  readonly device: string | undefined;
}

export class PortalLimits {
  readonly #store: ThrottleStore;
  readonly #requests: ReturnType<typeof makeRequestLimiters>;
  readonly #accountStreams = new ConcurrencyLimiter<string>('live pages and downloads', {
    total: Infinity, perOwner: STREAMS_PER_ACCOUNT_LIMIT,
  });
  readonly #shopStreams = new ConcurrencyLimiter<SellerId>('live pages and downloads in the shop', {
    total: Infinity, perOwner: PORTAL_STREAMS_PER_SELLER_LIMIT,
  });

  /** @param clock For the limits that each node counts alone. */
  constructor(store: ThrottleStore, clock: Clock) {
    this.#store = store;
    this.#requests = makeRequestLimiters(monotonicOf(clock));
  }

  /**
   * Checks a password at the sign-in; only wrong ones count towards the limits of failures.
   * @param account The one with this e-mail. @throws AppError `rate_limited`
   */
  async tryPassword(
    email: string, account: AccountReference | undefined, { address, device }: Origin,
    check: () => Promise<boolean>,
  ): Promise<boolean> {
    if (account && device !== undefined) {
      const failures = [bucketOf(PASSWORDS, `device ${device}`)];
      return this.#attempt(failures, check, bucketOf(CHECKS, nameOf(account)));
    }
    const failures = [
      bucketOf(ADDRESSES, rateLimitPrefix(address)), bucketOf(PASSWORDS, `email ${email}`),
    ];
    return this.#attempt(failures, check, bucketOf(CHECKS, `email ${email}`));
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

  /** Checks a signed-in user's password; a wrong one also counts as a failure. */
  async tryConfirmation(
    account: AccountReference, check: () => Promise<boolean>,
  ): Promise<boolean> {
    const failures = [bucketOf(PASSWORDS, nameOf(account))];
    return this.#attempt(failures, check, bucketOf(CHECKS, `confirm ${nameOf(account)}`));
  }

  /** Counts a registration: of its invitation, or else of the address. @throws AppError */
  async takeRegistration(address: string, codeHash?: string): Promise<void> {
    const owner = codeHash === undefined ? rateLimitPrefix(address) : `code ${codeHash}`;
    await this.#take(bucketOf(REGISTRATIONS, owner));
  }

  /**
   * Takes a slot for a live page or a download, so that one account cannot take those of its
   * colleagues. Returns the function that releases it. @throws AppError `unavailable`
   */
  acquireStream(account: AccountReference): Release {
    return acquireAll(
      () => this.#accountStreams.acquire(nameOf(account)),
      () => this.#shopStreams.acquire(account.sellerId),
    );
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

  /**
   * Takes a token from each bucket before the check. A correct secret gets back those of
   * `failures`; one that was not checked gets back all.
   */
  async #attempt(
    failures: readonly ThrottleBucket[], check: () => Promise<boolean>, all?: ThrottleBucket,
  ): Promise<boolean> {
    const refundable = new Set<ThrottleBucket>();
    try {
      for (const bucket of [...failures, ...all ? [all] : []]) {
        await this.#take(bucket);
        refundable.add(bucket);
      }
      const isRight = await check();
      if (isRight && all) refundable.delete(all);
      if (!isRight) refundable.clear();
      return isRight;
    } finally {
      await Promise.all([...refundable].map((bucket) => this.#store.refundThrottle(bucket)));
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
/** Counts right and wrong passwords. */
const CHECKS = {
  kind: 'password_checks', limit: PASSWORD_CHECKS_LIMIT, windowMs: SIGN_IN_WINDOW_MS,
};
const ONE_TIME_PASSWORDS = {
  kind: 'failed_one_time_passwords', limit: FAILED_TOTP_LIMIT, windowMs: TOTP_WINDOW_MS,
};
/** Challenges expire earlier, also by the clock of a node that is late. */
const CHALLENGES = { kind: 'passkey_challenges', limit: 1, windowMs: 2 * CHALLENGE_LIFE_MS };
const REGISTRATIONS = {
  kind: 'registrations', limit: REGISTRATIONS_PER_ADDRESS_PER_HOUR, windowMs: HOUR_MS,
};

/** Whose turn it is to hash a password of an account: that of its seller. */
export function passwordClient(
  account: AccountReference, signal: AbortSignal, kind = 'own',
): PasswordClient {
  return {
    lane: `seller ${account.sellerId}`, owner: `${kind} ${nameOf(account)}`, signal,
    since: performance.now(),
  };
}

/** Of a new account, or an unknown e-mail: all take turns as if they were one seller. */
export function strangerClient(address: string, signal: AbortSignal): PasswordClient {
  const owner = `address ${rateLimitPrefix(address)}`;
  return { lane: 'strangers', owner, signal, since: performance.now() };
}

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
