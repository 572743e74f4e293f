/**
 * Password hashes: argon2id (RFC 9106) with the second parameter set that section 4 recommends, in
 * the PHC string format, so hashes stay verifiable when the parameters change. A hash takes 64 MiB
 * and at least a tenth of a second on a thread of Node's pool, so few run at the same time; the
 * others wait in a bounded queue.
 */
import { argon2, type Argon2Parameters, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { normalisePassword } from './account.ts';
import { AppError } from '../error.ts';
import { CONCURRENT_PASSWORD_HASHES_LIMIT, PASSWORD_HASH_QUEUE_LIMIT } from '../limits.ts';

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

const derive = promisify(argon2);

export class Passwords {
  #inFlight = 0;
  readonly #waiting: (() => void)[] = [];
  readonly #cost: PasswordHashCost;

  constructor(cost = DEFAULT_COST) {
    this.#cost = cost;
  }

  /** @throws AppError `unavailable` if the queue is full */
  async hash(password: string): Promise<string> {
    const { memory, passes, parallelism } = this.#cost;
    const nonce = randomBytes(SALT_BYTES);
    const hash = await this.#derive(password, { ...this.#cost, nonce, tagLength: TAG_LENGTH });
    const numbers = `m=${memory},t=${passes},p=${parallelism}`;
    return `$argon2id$v=19$${numbers}$${encode(nonce)}$${encode(hash)}`;
  }

  /**
   * Whether a password matches a hash. Takes as long without a hash, so the response time does not
   * reveal which accounts exist.
   * @throws AppError `unavailable` if the queue is full
   */
  async verify(password: string, phc: string | undefined): Promise<boolean> {
    const [, memory, passes, parallelism, salt = '', expected = ''] = PHC.exec(phc ?? '') ?? [];
    if (memory === undefined) {
      await this.hash(password);
      return false;
    }
    const hash = Buffer.from(expected, 'base64');
    const derived = await this.#derive(password, {
      memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism),
      nonce: Buffer.from(salt, 'base64'), tagLength: hash.length,
    });
    return timingSafeEqual(derived, hash);
  }

  async #derive(password: string, parameters: Omit<Argon2Parameters, 'message'>): Promise<Buffer> {
    await this.#acquire();
    try {
      return await derive('argon2id', { ...parameters, message: normalisePassword(password) });
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#inFlight -= 1;
    }
  }

  /** Resolves when a slot is free; a finished hash hands its slot to the next in the queue. */
  async #acquire(): Promise<void> {
    if (this.#inFlight < CONCURRENT_PASSWORD_HASHES_LIMIT) {
      this.#inFlight += 1;
      return;
    }
    if (this.#waiting.length >= PASSWORD_HASH_QUEUE_LIMIT) {
      const detail = 'Too many sign-ins at the moment. Try again in a few seconds.';
      throw new AppError('unavailable', detail, { retryAfterSeconds: 5 });
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
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
