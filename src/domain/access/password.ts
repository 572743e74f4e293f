/**
 * Password hashes: argon2id (RFC 9106) with the second parameter set that section 4 recommends, in
 * the PHC string format, so hashes stay verifiable when the parameters change. A hash takes 64 MiB
 * and at least a tenth of a second on a thread of Node's pool, so few run at the same time; the
 * others wait in a bounded queue, in which sellers take turns.
 */
import * as crypto from 'node:crypto';
import { type Argon2Parameters, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { FairQueue, type QueueClient } from '../../runtime/fair-queue.ts';
import { normalisePassword } from './account.ts';
import { AppError } from '../error.ts';
import {
  CONCURRENT_PASSWORD_HASHES_LIMIT, PASSWORD_HASH_LANE_LIMIT, PASSWORD_HASH_QUEUE_LIMIT,
  PASSWORD_HASHES_PER_OWNER_LIMIT, PASSWORD_REJECTION_MS,
} from '../limits.ts';

/**
 * Cost parameters of argon2id (RFC 9106, section 3.1). `memory`: KiB; at least 8 times
 * `parallelism`.
 */
type PasswordHashCost = Readonly<Pick<Argon2Parameters, 'memory' | 'passes' | 'parallelism'>>;

const DEFAULT_COST: PasswordHashCost = { memory: 64 * 1024, passes: 3, parallelism: 4 };
const TAG_LENGTH = 32;
const SALT_BYTES = 16;
const FINGERPRINT_LENGTH = 16;
const PHC = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([\w+/]+)\$([\w+/]+)$/;

const derive = promisify(crypto.argon2); // not imported by name: see embed/supported-node.ts

/** Whose password it is. */
export interface PasswordClient extends QueueClient {
  /** When its request arrived, by `performance.now()`. */
  readonly since: number;
}

/** For commands: in the process of one person, nobody else waits. */
const ALONE: PasswordClient = { lane: '', owner: '', since: 0 };

export class Passwords {
  readonly #queue = new FairQueue({
    concurrent: CONCURRENT_PASSWORD_HASHES_LIMIT, total: PASSWORD_HASH_QUEUE_LIMIT,
    perLane: PASSWORD_HASH_LANE_LIMIT, perOwner: PASSWORD_HASHES_PER_OWNER_LIMIT,
  });
  readonly #cost: PasswordHashCost;
  readonly #rejectionMs: number;

  /** @param rejectionMs Time from the request to a rejection, whatever was done before. */
  constructor(cost = DEFAULT_COST, rejectionMs = PASSWORD_REJECTION_MS) {
    this.#cost = cost;
    this.#rejectionMs = rejectionMs;
  }

  /** @throws AppError `unavailable` if the queue is full */
  async hash(password: string, client = ALONE): Promise<string> {
    const { memory, passes, parallelism } = this.#cost;
    const nonce = randomBytes(SALT_BYTES);
    const parameters = { ...this.#cost, nonce, tagLength: TAG_LENGTH };
    const hash = await this.#derive(password, parameters, client);
    const numbers = `m=${memory},t=${passes},p=${parallelism}`;
    return `$argon2id$v=19$${numbers}$${encode(nonce)}$${encode(hash)}`;
  }

  /**
   * Whether a password matches a hash. Takes as long without a hash, so the response time does not
   * reveal which accounts exist.
   * @throws AppError `unavailable` if the queue is full
   */
  async verify(password: string, phc: string | undefined, client = ALONE): Promise<boolean> {
    const [, memory, passes, parallelism, salt = '', expected = ''] = PHC.exec(phc ?? '') ?? [];
    if (memory === undefined) {
      await this.hash(password, client);
      return false;
    }
    const hash = Buffer.from(expected, 'base64');
    const derived = await this.#derive(password, {
      memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism),
      nonce: Buffer.from(salt, 'base64'), tagLength: hash.length,
    }, client);
    return timingSafeEqual(derived, hash);
  }

  /** Waits for a turn without a hash. @throws AppError `unavailable` if the queue is full */
  async takeTurn(client: PasswordClient): Promise<void> {
    await this.#run(client, async () => undefined);
  }

  #derive(
    password: string, parameters: Omit<Argon2Parameters, 'message'>, client: PasswordClient,
  ): Promise<Buffer> {
    const message = normalisePassword(password);
    return this.#run(client, () => derive('argon2id', { ...parameters, message }));
  }

  async #run<T>(client: PasswordClient, work: () => Promise<T>): Promise<T> {
    const result = this.#queue.run(client, work);
    const detail = 'Too many sign-ins at the moment. Try again in a few seconds.';
    const busy = new AppError('unavailable', detail, { retryAfterSeconds: 5 });
    if (result) {
      return result.catch((error: unknown) => {
        throw client.signal?.aborted ? busy : error;
      });
    }
    await setTimeout(Math.max(0, this.#rejectionMs - (performance.now() - client.since)));
    throw busy;
  }
}

/** Changes with the password and reveals nothing about it: it derives from the salted hash. */
export function passwordFingerprint(passwordHash: string): string {
  return hash('sha256', passwordHash, 'base64url').slice(0, FINGERPRINT_LENGTH);
}

/** Base64 without padding, as in the PHC string format. */
function encode(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replaceAll('=', '');
}
