/**
 * Authenticates requests by the header `x-api-key`. A rejected key gets 401. The errors say what to
 * do without helping an attacker: a key that never existed, a revoked key and a disabled seller's
 * key get the same response.
 */
import type { IncomingMessage } from 'node:http';
import { types } from 'node:util';
import { FAILED_KEYS_PER_ADDRESS_PER_MINUTE, KEY_LAST_USE_INTERVAL_MS } from './limits.ts';
import { rateLimitPrefix, isAddressInRanges } from '../domain/network-address.ts';
import { type ApiKeySecret, hashApiKey, parseApiKey } from '../domain/access/api-key.ts';
import { actorName, type Caller, type Scope, SCOPES } from '../domain/access/caller.ts';
import { listOf, oneOf, parseText, type Parsers, readArgument } from '../domain/arguments.ts';
import { AppError, type ErrorCode } from '../domain/error.ts';
import { findSellerNamed } from '../domain/access/seller.ts';
import { PROGRAM_KEY_ID } from '../domain/id.ts';
import { MINUTE_MS } from '../domain/time.ts';
import { rateLimited } from '../http/rate-limit.ts';
import { isFromWebPage } from '../http/request/client-address.ts';
import { hasEnded } from '../runtime/clock.ts';
import type { AccessStore, Grant } from '../store/access-store.ts';
import type { MaintenanceStore } from '../store/maintenance-store.ts';
import { RATE_LIMIT_ENTRIES_LIMIT } from '../store/limits.ts';
import { bucketOf, type ThrottleStore } from '../store/nodes/throttle-store.ts';

/** The seller that a request acts for; undefined if its API key says so. */
export type AuthenticateHost =
  (request: IncomingMessage) => HostCaller | undefined | Promise<HostCaller | undefined>;

/** A caller without a key. */
export interface HostCaller {
  /** The seller that it acts for: its id, `sel_...`, or its external id. */
  readonly seller: string;
  /** Default: all. */
  readonly scopes?: readonly Scope[];
  /** Stored with each change: who acts, such as `erp-sync` or `user 7`. 1 to 100 code points. */
  readonly actor?: string;
}

interface AuthenticationOptions {
  readonly store: AccessStore & ThrottleStore & Pick<MaintenanceStore, 'now'>;
  readonly authenticateHost: AuthenticateHost | undefined;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Whether web pages may send requests with a key. */
  readonly allowBrowsers: boolean;
  /** Called when a last use could not be written; the request continues. */
  readonly onLastUseError: (error: unknown) => void;
}

/** The errors that count as a failed attempt; a store failure does not. */
const FAILED_ATTEMPTS: ReadonlySet<ErrorCode> = new Set([
  'key_missing', 'key_malformed', 'key_unknown', 'key_expired', 'address_refused',
  'browser_refused',
]);

const FAILED_KEYS = {
  kind: 'failed_keys', limit: FAILED_KEYS_PER_ADDRESS_PER_MINUTE, windowMs: MINUTE_MS,
};

export class Authenticator {
  readonly #options: AuthenticationOptions;
  /** When the last use of a key was written, by the key's hash. */
  readonly #lastUseWrittenAt = new Map<string, number>();

  constructor(options: AuthenticationOptions) {
    this.#options = options;
  }

  /** @throws AppError `key_*`, `address_refused`, `browser_refused`, `rate_limited` */
  async authenticate(request: IncomingMessage, address: string): Promise<Caller> {
    const { authenticateHost, store, allowBrowsers } = this.#options;
    const isRejected = !allowBrowsers && isFromWebPage(request.headers);
    const host = authenticateHost && await authenticateHost(request);
    if (host && isRejected) throw new AppError('browser_refused', FROM_WEB_PAGE);
    if (host) return findHostCaller(store, host, address);
    try {
      const key = readKey(request);
      if (isRejected) throw new AppError('browser_refused', KEY_FROM_WEB_PAGE);
      const hash = hashApiKey(key);
      const lookup = store.findGrant(hash);
      const grant = types.isPromise(lookup) ? await lookup : lookup;
      if (!grant) {
        const detail = 'This key does not exist, was revoked, or its seller is disabled.';
        throw new AppError('key_unknown', detail);
      }
      this.#assertUsable(grant, address);
      this.#recordUse(hash, grant, address);
      const { sellerId, keyId, scopes, rateLimitPerMinute, position, currency } = grant;
      const { generation } = store;
      return {
        sellerId, keyId, scopes, rateLimitPerMinute, address, position, generation, currency,
      };
    } catch (error) {
      // Guessing is rate limited by address; a valid key is still accepted from there.
      if (!(error instanceof AppError && FAILED_ATTEMPTS.has(error.code))) throw error;
      const rate = await store.takeThrottle(bucketOf(FAILED_KEYS, rateLimitPrefix(address)));
      throw rate.isAllowed ? error : rateLimited(rate.retryAfterSeconds);
    }
  }

  #assertUsable(grant: Grant, address: string): void {
    const { expiresAt: endsAt, livedUntil } = grant;
    // Most keys do not expire.
    if (endsAt !== undefined && hasEnded({ endsAt, livedUntil }, this.#options.store.now())) {
      throw new AppError('key_expired', 'This key has expired. Create a new one.');
    }
    // Most keys have no ranges.
    if (grant.addressRanges.length > 0 && !isAddressInRanges(address, grant.addressRanges)) {
      const detail = 'This key may only be used from its configured addresses.';
      throw new AppError('address_refused', `${detail} Use it from there, or create another.`);
    }
  }

  /** At most one small write a minute; it never fails a request. */
  #recordUse(hash: string, { sellerId, keyId }: Grant, address: string): void {
    const at = this.#options.clock();
    // A clock may step backwards.
    const writtenAt = this.#lastUseWrittenAt.get(hash) ?? -Infinity;
    if (Math.abs(at - writtenAt) < KEY_LAST_USE_INTERVAL_MS) return;
    if (this.#lastUseWrittenAt.size >= RATE_LIMIT_ENTRIES_LIMIT) this.#lastUseWrittenAt.clear();
    this.#lastUseWrittenAt.set(hash, at);
    const { store, onLastUseError } = this.#options;
    store.noteKeyUse({ sellerId, keyId }, address).catch(onLastUseError);
  }
}

/**
 * A caller without a key: the program that embeds the server acts for this seller.
 * @param host Valid: the caller checks what a program passes, once.
 * @throws AppError `not_found`; `key_unknown` if the seller is disabled
 */
export async function findProgramCaller(
  store: AccessStore, { seller: id, scopes = SCOPES, actor }: HostCaller, address: string,
): Promise<Caller> {
  const seller = await findSellerNamed(store, id);
  if (!seller) throw new AppError('not_found', `No seller has the id or external id ${
      JSON.stringify(id)}.`);
  if (seller.disabledAt !== undefined) {
    throw new AppError('key_unknown', 'This seller is disabled. Enable the seller first.');
  }
  const { position, currency } = seller;
  return {
    sellerId: seller.id, keyId: PROGRAM_KEY_ID, actorName: actor, scopes, address, position,
    generation: store.generation, currency,
  };
}

const HOST_CALLER: Parsers<HostCaller> = {
  seller: parseText,
  scopes: listOf(oneOf(SCOPES)),
  actor: actorName.parse,
};

/** Errors of what a program should not have returned. */
const HOST_FAULTS: ReadonlySet<ErrorCode> = new Set(['invalid_data', 'not_found']);

/** Its faults are not the client's: the client gets 500, and the program a report. */
async function findHostCaller(
  store: AccessStore, returned: HostCaller, address: string,
): Promise<Caller> {
  try {
    const host = readArgument(returned, 'The caller', HOST_CALLER, ['seller']);
    return await findProgramCaller(store, host, address);
  } catch (error) {
    if (!(error instanceof AppError && HOST_FAULTS.has(error.code))) throw error;
    throw new Error(`What authenticate returned cannot be used. ${error.publicDetail}`,
      { cause: error });
  }
}

/**
 * @param scopes One is enough. Each permits all that the later ones do.
 * @param purpose Follows the scope in the error, such as ` to change /stock`.
 * @throws AppError `scope_missing`
 */
export function authorize(caller: Caller, scopes: readonly Scope[], purpose = ''): void {
  if (scopes.some((scope) => caller.scopes.includes(scope))) return;
  throw new AppError('scope_missing', `This key lacks the scope ${scopes.join(' or ')}${purpose}. `
    + 'Create one that has it.');
}

/** The scopes that a request must keep: it ends if its caller loses what it began with. */
export function narrowScopes(caller: Caller, scopes: readonly Scope[]): readonly Scope[] {
  return scopes.slice(0, scopes.findIndex((scope) => caller.scopes.includes(scope)) + 1);
}

function readKey({ headers }: IncomingMessage): ApiKeySecret {
  const { 'x-api-key': header = '' } = headers;
  if (header === '') {
    throw new AppError('key_missing', 'Send your API key in the header x-api-key.');
  }
  // Node joins a repeated header with commas, which no key contains.
  const key = parseApiKey(String(header));
  if (key) return key;
  const shape = 'A key is spk_ and 36 letters and digits';
  const detail = `This is not a key of this service. ${shape}; copy the whole key.`;
  throw new AppError('key_malformed', detail);
}

/** Every visitor of a page can read a key that the page uses. */
const KEY_FROM_WEB_PAGE = 'This request was sent by a web page, where anyone can read the key. '
  + 'Revoke it, and send requests from your server.';
/** Any page can send a request with the cookies of a browser. */
const FROM_WEB_PAGE = 'This request was sent by a web page, and the server does not allow them. '
  + 'The program that embeds it can, with allowBrowsers, if it rejects forged requests.';
