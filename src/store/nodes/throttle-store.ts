/**
 * The throttle port: token buckets that slow down guessing. Every process that serves a store takes
 * from the same buckets, so several nodes allow no more guesses than one.
 */
import { hash } from 'node:crypto';
import type { RateDecision, RateLimit } from '../../runtime/rate-limiter.ts';

/** A kind of bucket. */
interface Throttle extends RateLimit {
  /** What its buckets count, such as `failed_keys`: up to 30 characters, never from a client. */
  readonly kind: string;
}

/** One bucket of a throttle. */
export interface ThrottleBucket extends Throttle {
  /** 43 characters: a SHA-256 in base64url. No address, e-mail or cookie is stored. */
  readonly name: string;
}

/** `retryAfterSeconds` is 0 if the attempt is allowed, and at least 1 otherwise. */
type ThrottleDecision = Pick<RateDecision, 'isAllowed' | 'retryAfterSeconds'>;

/**
 * An adapter for several nodes keeps a row per kind and name: the tokens and the time of the last
 * change, by the clock of the database. Each method is one statement that refills the bucket for
 * the time since then, up to `limit`, and takes or adds a token, so that concurrent attempts on
 * all nodes take different tokens. A missing row is a full bucket, and a bucket that is full again
 * needs no row; the least recently used ones may be dropped beyond `RATE_LIMIT_ENTRIES_LIMIT` of a
 * kind. It may remember that a bucket is empty until its next token, so that a flood of attempts
 * costs the database little. Buckets need not survive a failover.
 */
export interface ThrottleStore {
  /** Takes a token, if one is left. @throws AppError `unavailable`; then nobody may guess */
  takeThrottle(bucket: ThrottleBucket): Promise<ThrottleDecision>;
  /** Returns the token of an attempt that does not count after all. */
  refundThrottle(bucket: ThrottleBucket): Promise<void>;
}

/** The bucket of an owner: an address, an account or a browser, as any text. */
export function bucketOf(throttle: Throttle, owner: string): ThrottleBucket {
  return { ...throttle, name: hash('sha256', owner, 'base64url') };
}
