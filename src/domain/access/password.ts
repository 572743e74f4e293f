/**
 * Passwords: argon2id (RFC 9106) with the second of the parameter sets that its section 4
 * recommends, in the PHC string format, so that hashes of other parameters can still be checked
 * once these change. Each takes 64 MiB and a tenth of a second or more on a thread of Node's pool:
 * few run at once, and more than a queue of them is refused.
 */
import { argon2, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { normalisePassword } from './account.ts';
import { AppError } from '../error.ts';
import { CONCURRENT_PASSWORD_HASHES_LIMIT, PASSWORD_HASH_QUEUE_LIMIT } from '../limits.ts';

const MEMORY_KIB = 64 * 1024;
const PASSES = 3;
const LANES = 4;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const STAMP_LENGTH = 16;
const PHC = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([\w+/]+)\$([\w+/]+)$/;

const derive = promisify(argon2);

interface Parameters {
  readonly memoryKib: number;
  readonly passes: number;
  readonly lanes: number;
  readonly salt: Uint8Array;
  readonly hashBytes: number;
}

export class Passwords {
  #inFlight = 0;
  readonly #waiting: (() => void)[] = [];

  /** @throws AppError `unavailable` where too many are asked for at once */
  async hash(password: string): Promise<string> {
    const salt = randomBytes(SALT_BYTES);
    const hash = await this.#derive(password, {
      memoryKib: MEMORY_KIB, passes: PASSES, lanes: LANES, salt, hashBytes: HASH_BYTES,
    });
    const numbers = `m=${MEMORY_KIB},t=${PASSES},p=${LANES}`;
    return `$argon2id$v=19$${numbers}$${encode(salt)}$${encode(hash)}`;
  }

  /**
   * Whether a password is the one of a hash. Where there is no hash to compare with it takes as
   * long, so that nobody can tell by the time which accounts exist.
   * @throws AppError `unavailable`, as above
   */
  async verify(password: string, phc: string | undefined): Promise<boolean> {
    const [, memory, passes, lanes, salt = '', expected = ''] = PHC.exec(phc ?? '') ?? [];
    if (memory === undefined) {
      await this.hash(password);
      return false;
    }
    const hash = Buffer.from(expected, 'base64');
    const derived = await this.#derive(password, {
      memoryKib: Number(memory), passes: Number(passes), lanes: Number(lanes),
      salt: Buffer.from(salt, 'base64'), hashBytes: hash.length,
    });
    return timingSafeEqual(derived, hash);
  }

  async #derive(password: string, parameters: Parameters): Promise<Buffer> {
    await this.#begin();
    try {
      return await derive('argon2id', {
        message: normalisePassword(password),
        nonce: parameters.salt,
        memory: parameters.memoryKib,
        passes: parameters.passes,
        parallelism: parameters.lanes,
        tagLength: parameters.hashBytes,
      });
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#inFlight -= 1;
    }
  }

  /** Resolves once it is this one's turn, which the one before hands over. */
  async #begin(): Promise<void> {
    if (this.#inFlight < CONCURRENT_PASSWORD_HASHES_LIMIT) {
      this.#inFlight += 1;
      return;
    }
    if (this.#waiting.length >= PASSWORD_HASH_QUEUE_LIMIT) {
      const detail = 'Too many people sign in at this moment. Try again in a few seconds.';
      throw new AppError('unavailable', detail, { retryAfterSeconds: 5 });
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}

/** Tells one password from the next, and nothing else: it is made of a salted hash. */
export function passwordFingerprint(passwordHash: string): string {
  return hash('sha256', passwordHash, 'base64url').slice(0, STAMP_LENGTH);
}

/** Base64 without padding, as the PHC string format has it. */
function encode(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replaceAll('=', '');
}
