/**
 * Authentication, as the specification has it: every request carries the header `x-api-key`, and
 * when the key is not accepted the service answers 401. The refusals say what to do; a guesser
 * learns nothing from them: a key that was never made, one that was revoked, and one of a seller
 * who is disabled answer alike.
 */
import type { IncomingMessage } from 'node:http';
import {
  FAILED_KEYS_PER_ADDRESS_PER_MINUTE, KEY_LAST_USE_INTERVAL_MS, RATE_LIMIT_ENTRIES_LIMIT,
} from './limits.ts';
import { rateLimitPrefix, isAddressInRanges } from '../domain/network-address.ts';
import { type ApiKeySecret, hashApiKey, parseApiKey } from '../domain/access/api-key.ts';
import type { Caller, Scope } from '../domain/access/caller.ts';
import { AppError, type ErrorCode } from '../domain/error.ts';
import { rateLimited, RateLimiter } from '../http/rate-limit.ts';
import { isFromWebPage } from '../http/request/client-address.ts';
import type { AccessStore, Grant } from '../store/access-store.ts';

interface AuthenticationOptions {
  readonly store: AccessStore;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Whether requests that a browser page sent may carry a key. */
  readonly allowBrowsers: boolean;
  /** Told of a last use that could not be written; the request goes on. */
  readonly onUnnoted: (error: unknown) => void;
}

/** What counts as a failed attempt; a store that cannot answer does not. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  'key_missing', 'key_malformed', 'key_unknown', 'key_expired', 'address_refused',
  'browser_refused',
]);

export class Authenticator {
  readonly #options: AuthenticationOptions;
  readonly #failures: RateLimiter<string>;
  /** When the last use of a key was noted, by the key's hash. */
  readonly #notedAt = new Map<string, number>();

  constructor(options: AuthenticationOptions) {
    this.#options = options;
    this.#failures = new RateLimiter(
      FAILED_KEYS_PER_ADDRESS_PER_MINUTE, RATE_LIMIT_ENTRIES_LIMIT, options.clock,
    );
  }

  /** @throws AppError `key_*`, `address_refused`, `browser_refused`, `rate_limited` */
  async authenticate(request: IncomingMessage, address: string): Promise<Caller> {
    try {
      const key = readKey(request);
      if (!this.#options.allowBrowsers) refuseBrowser(request);
      const hash = hashApiKey(key);
      const grant = await this.#options.store.findGrant(hash);
      if (!grant) {
        const detail = 'This key does not exist, was revoked, or its seller is disabled.';
        throw new AppError('key_unknown', detail);
      }
      this.#assertUsable(grant, address);
      this.#noteUse(hash, grant, address);
      const { sellerId, keyId, scopes, position, currency } = grant;
      return { sellerId, keyId, scopes, address, position, currency };
    } catch (error) {
      // Guessing is slowed down by address; a valid key still passes from there.
      if (!(error instanceof AppError && REFUSALS.has(error.code))) throw error;
      const rate = this.#failures.take(rateLimitPrefix(address));
      throw rate.isAllowed ? error : rateLimited(rate.retryAfterSeconds);
    }
  }

  #assertUsable(grant: Grant, address: string): void {
    if (grant.expiresAt !== undefined && grant.expiresAt <= this.#options.clock()) {
      throw new AppError('key_expired', 'This key has expired. Create a new one.');
    }
    // Most keys may be used from anywhere.
    if (grant.addressRanges.length > 0 && !isAddressInRanges(address, grant.addressRanges)) {
      const detail = 'This key may only be used from the addresses that it was made for.';
      throw new AppError('address_refused', `${detail} Use it from there, or create another.`);
    }
  }

  /** The last use is worth one small write a minute, and never a failed request. */
  #noteUse(hash: string, { sellerId, keyId }: Grant, address: string): void {
    const at = this.#options.clock();
    // A clock may step backwards.
    if (Math.abs(at - (this.#notedAt.get(hash) ?? -Infinity)) < KEY_LAST_USE_INTERVAL_MS) return;
    if (this.#notedAt.size >= RATE_LIMIT_ENTRIES_LIMIT) this.#notedAt.clear();
    this.#notedAt.set(hash, at);
    this.#options.store.noteKeyUse({ sellerId, keyId }, address).catch(this.#options.onUnnoted);
  }
}

/** @throws AppError `scope_missing` */
export function authorize(caller: Caller, scope: Scope): void {
  if (caller.scopes.includes(scope)) return;
  const detail = `This key lacks the scope ${scope}. Create one that has it.`;
  throw new AppError('scope_missing', detail);
}

function readKey(request: IncomingMessage): ApiKeySecret {
  const header = request.headers['x-api-key'];
  if (header === undefined || header === '') {
    throw new AppError('key_missing', 'Send your API key in the header x-api-key.');
  }
  // Node joins a repeated header by commas, and no key has one.
  const key = typeof header === 'string' ? parseApiKey(header) : undefined;
  if (key) return key;
  const shape = 'A key is spk_ and 36 letters and digits';
  const detail = `This is not a key of this service. ${shape}; copy it whole.`;
  throw new AppError('key_malformed', detail);
}

/** A key in a browser is a key that every visitor can read. */
function refuseBrowser(request: IncomingMessage): void {
  if (!isFromWebPage(request.headers)) return;
  const detail = 'This request was sent by a web page, where everybody can read the key.';
  throw new AppError('browser_refused', `${detail} Revoke it, and send requests from your server.`);
}
