/**
 * Sellers and their API keys, for the program that embeds the server. Wrong arguments are reported
 * as `invalid_data`, as the API reports wrong data.
 */
import { parseRole, type Role } from '../domain/access/account.ts';
import {
  type ApiKey, describeKey, generateApiKey, type KeyDescription, parseNewApiKey, toStoredSecret,
} from '../domain/access/api-key.ts';
import type { Scope } from '../domain/access/caller.ts';
import {
  DEFAULT_CURRENCY, type DeletedSeller, describeDeletedSeller, describeSeller, findSellerNamed,
  parseNewSeller, parseSellerPatch, parseSellerReference, type Seller as StoredSeller,
  type SellerDescription,
} from '../domain/access/seller.ts';
import {
  listOf, parseText, type Parse, type Parsers, readArgument, readValue,
  wrongArgument,
} from '../domain/arguments.ts';
import { AppError } from '../domain/error.ts';
import { type KeyId, type KeyReference, parseKeyId, type SellerId } from '../domain/id.ts';
import {
  DURATION_LIMIT_MS, KEY_OVERLAP_DEFAULT, RATE_LIMIT_PER_MINUTE_MAX,
} from '../domain/limits.ts';
import { parseDuration } from '../domain/time.ts';
import { integerValidator, invalid } from '../domain/validation.ts';
import type { AccessStore } from '../store/access-store.ts';
import type { AccountStore } from '../store/account-store.ts';
import { formatJoinUrl, invite } from '../store/invitation.ts';
import { listAll } from '../store/list-all.ts';

/** A seller: the owner of a catalogue. */
export type Seller = SellerDescription;
/** An API key, without its secret. */
export type Key = KeyDescription;
export type { DeletedSeller };

/** A seller to create. */
export interface NewSeller {
  /** 1 to 200 code points. */
  readonly name: string;
  /** ISO 4217; all prices of the seller are in it. Default EUR. */
  readonly currency?: string;
  /**
   * Your own id of the seller, unique in the shop: 1 to 200 code points, not beginning with
   * `sel_`. It can be used wherever the seller's id can. Default: none.
   */
  readonly externalId?: string;
}

/** What changes; the currency cannot. */
export interface SellerChanges {
  /** 1 to 200 code points. */
  readonly name?: string;
  /** As for a new seller; null removes it. */
  readonly externalId?: string | null;
}

/** An API key to create. */
export interface NewKey {
  /** What the key is used for: 1 to 100 code points. */
  readonly name: string;
  /** Default: all. */
  readonly scopes?: readonly Scope[];
  /** Client addresses and CIDR ranges that may use it. Default: any. */
  readonly allow?: readonly string[];
  /** Default: never. */
  readonly expires?: Date;
  /**
   * Requests per minute: 1 to 10,000,000, and at most the shop's `rateLimitPerMinute`. Default: the
   * shop's.
   */
  readonly rateLimitPerMinute?: number;
}

/** A new key: the only time that its secret is known. */
export interface CreatedKey extends Key {
  /** The secret, `spk_...`. */
  readonly key: string;
}

/** An invitation to the portal: the only time that its code is known. */
export interface Invitation {
  /** It works once. */
  readonly code: string;
  /** When the code stops working, after a week: RFC 3339, in UTC. */
  readonly expires_at: string;
  /** The page that takes the code; null if the shop has no `baseUrl`. */
  readonly url: string | null;
}

/** Whom to invite. */
export interface InvitationOptions {
  /** What the account may do in the portal of an existing seller. Default: owner. */
  readonly role?: Role;
}

/** What the shop passes: the store while it is open, and its options. */
interface Administered {
  /** @throws AppError `unavailable` once the shop is closed */
  getStore(): AccessStore & AccountStore;
  readonly baseUrl?: string | undefined;
  readonly rateLimitPerMinute?: number;
  readonly clock?: (() => number) | undefined;
}

const NEW_SELLER: Parsers<NewSeller> = {
  name: parseText, currency: parseText, externalId: parseText,
};

const SELLER_CHANGES: Parsers<SellerChanges> = {
  name: parseText, externalId: (value) => (value === null ? { value } : parseText(value)),
};

const parseDate: Parse<Date> = (value) => (value instanceof Date && !Number.isNaN(value.getTime())
  ? { value } : invalid('type', 'Must be a Date.'));

const NEW_KEY: Parsers<NewKey> = {
  name: parseText,
  // The cast: `parseNewApiKey` rejects what is no scope.
  scopes: listOf(parseText) as Parse<readonly Scope[]>,
  allow: listOf(parseText),
  expires: parseDate,
  rateLimitPerMinute: integerValidator(1, RATE_LIMIT_PER_MINUTE_MAX).parse,
};

const INVITATION_OPTIONS: Parsers<InvitationOptions> = { role: parseRole };

const parseOverlap = integerValidator(0, DURATION_LIMIT_MS).parse;

/** The sellers of a shop. */
export class Sellers {
  readonly #shop: Administered;

  /** @internal */
  constructor(shop: Administered) {
    this.#shop = shop;
  }

  /**
   * Creates a seller, with an empty catalogue.
   * @throws AppError `invalid_data`, `external_id_taken`
   * @example
   * ```ts
   * const { id } = await shop.sellers.create({ name: 'My shop', currency: 'CHF' });
   * ```
   */
  async create(seller: NewSeller): Promise<Seller> {
    const { name, currency = DEFAULT_CURRENCY, externalId }
      = readArgument(seller, 'sellers.create', NEW_SELLER, ['name']);
    return describeSeller(
      await this.#shop.getStore().createSeller(parseNewSeller(name, currency, externalId)));
  }

  /**
   * A seller.
   * @param seller Its id or external id.
   * @throws AppError `invalid_data`, `not_found`
   * @example
   * ```ts
   * const { name, position } = await shop.sellers.get(seller.id);
   * ```
   */
  async get(seller: string): Promise<Seller> {
    return describeSeller(await getSeller(this.#shop.getStore(), seller, 'sellers.get'));
  }

  /**
   * Changes the name or the external id of a seller.
   * @param seller Its id or external id.
   * @throws AppError `invalid_data`, `not_found`, `external_id_taken`
   * @example
   * ```ts
   * const { external_id: own } = await shop.sellers.update(seller.id, { externalId: 'user 7' });
   * console.log(own); // user 7
   * ```
   */
  async update(seller: string, changes: SellerChanges): Promise<Seller> {
    const patch = parseSellerPatch(readArgument(changes, 'sellers.update', SELLER_CHANGES));
    const store = this.#shop.getStore();
    const { id } = await getSeller(store, seller, 'sellers.update');
    return describeSeller(await store.updateSeller(id, patch));
  }

  /**
   * All sellers, oldest first.
   * @example
   * ```ts
   * for await (const { id, name } of shop.sellers.list()) console.log(id, name);
   * ```
   */
  async* list(): AsyncGenerator<Seller, void, void> {
    for await (const seller of listAll<SellerId, StoredSeller>((query) =>
      this.#shop.getStore().listSellers(query))) yield describeSeller(seller);
  }

  /**
   * The keys, sign-in and webhooks of the seller stop working immediately; all data stays.
   * @param seller Its id or external id.
   * @throws AppError `invalid_data`, `not_found`
   * @example
   * ```ts
   * const { disabled_at: at } = await shop.sellers.disable(seller.id);
   * ```
   */
  disable(seller: string): Promise<Seller> {
    return this.#setDisabled(seller, 'sellers.disable', true);
  }

  /**
   * The keys, sign-in and webhooks of a disabled seller work again.
   * @param seller Its id or external id.
   * @throws AppError `invalid_data`, `not_found`
   * @example
   * ```ts
   * const { disabled_at: at } = await shop.sellers.enable(seller.id);
   * console.log(at); // null
   * ```
   */
  enable(seller: string): Promise<Seller> {
    return this.#setDisabled(seller, 'sellers.enable', false);
  }

  /**
   * Permanently deletes all data of a disabled seller. This may take minutes. If it is interrupted,
   * the seller stays disabled, and the next call continues.
   * @param seller Its id or external id.
   * @throws AppError `invalid_data`, `not_found`; `seller_enabled` unless it is disabled
   * @example
   * ```ts
   * await shop.sellers.disable(seller.id);
   * const { deleted_at: at, note } = await shop.sellers.delete(seller.id);
   * ```
   */
  async delete(seller: string): Promise<DeletedSeller> {
    const store = this.#shop.getStore();
    const reference = parseSellerReference(readValue(seller, 'sellers.delete', parseText));
    const id = typeof reference === 'number' ? reference
      : (await getSeller(store, seller, 'sellers.delete')).id;
    return describeDeletedSeller(id, await store.deleteSeller(id));
  }

  /**
   * Invites one person to the portal: to an existing seller, or to create a seller.
   * @param seller Its id or external id. Default: a new seller.
   * @throws AppError `invalid_data`, `not_found`; `limit_reached` (too many accounts)
   * @example
   * ```ts
   * const { code, expires_at: at } = await shop.sellers.invite(seller.id, { role: 'editor' });
   * ```
   */
  async invite(seller?: string, options: InvitationOptions = {}): Promise<Invitation> {
    const { baseUrl, clock } = this.#shop;
    const store = this.#shop.getStore();
    const { role } = readArgument(options, 'sellers.invite', INVITATION_OPTIONS);
    const sellerId = seller === undefined ? undefined
      : (await getSeller(store, seller, 'sellers.invite')).id;
    if (role && sellerId === undefined) {
      throw wrongArgument('sellers.invite', 'A role needs the id of a seller.');
    }
    const invitation = await invite(store, { sellerId, clock, ...(role && { role }) });
    return { ...invitation, url: baseUrl === undefined ? null : formatJoinUrl(baseUrl, sellerId) };
  }

  async #setDisabled(seller: string, method: string, isDisabled: boolean): Promise<Seller> {
    const store = this.#shop.getStore();
    const { id } = await getSeller(store, seller, method);
    return describeSeller(await store.setSellerDisabled(id, isDisabled));
  }
}

/** The API keys of a shop's sellers. */
export class Keys {
  readonly #shop: Administered;

  /** @internal */
  constructor(shop: Administered) {
    this.#shop = shop;
  }

  /**
   * Creates a key. Its secret is known only now.
   * @param seller Its id or external id.
   * @throws AppError `invalid_data`, `not_found`, `limit_reached`
   * @example
   * ```ts
   * const { key } = await shop.keys.create(seller.id, { name: 'till', scopes: ['stock:write'] });
   * console.log(key.slice(0, 4)); // spk_
   * ```
   */
  async create(seller: string, key: NewKey): Promise<CreatedKey> {
    const store = this.#shop.getStore();
    const { name, scopes = [], allow: addressRanges = [], expires, rateLimitPerMinute }
      = readArgument(key, 'keys.create', NEW_KEY, ['name']);
    const newKey = parseNewApiKey({
      name, scopes, addressRanges, expiresAt: expires?.getTime(), rateLimitPerMinute,
    }, this.#shop.rateLimitPerMinute);
    const secret = generateApiKey();
    const { id } = await getSeller(store, seller, 'keys.create');
    const created = await store.createKey(id, toStoredSecret(secret), newKey);
    return { ...describeKey(created), key: secret };
  }

  /**
   * The keys of a seller, oldest first, with those that are revoked or have expired.
   * @param seller Its id or external id.
   * @throws AppError `invalid_data`, `not_found`
   * @example
   * ```ts
   * for await (const { name, scopes } of shop.keys.list(seller.id)) console.log(name, scopes);
   * ```
   */
  async* list(seller: string): AsyncGenerator<Key, void, void> {
    const { id } = await getSeller(this.#shop.getStore(), seller, 'keys.list');
    for await (const key of listAll<KeyId, ApiKey>((query) =>
      this.#shop.getStore().listKeys(id, query))) yield describeKey(key);
  }

  /**
   * Creates a key with the same permissions and limits; the old one expires after an overlap.
   * @param overlapMs 0 to 315,619,200,000 (3,653 days). Default: 24 hours.
   * @throws AppError `invalid_data`, `not_found`
   * @example
   * ```ts
   * const { id } = await shop.keys.create(seller.id, { name: 'till' });
   * const { key } = await shop.keys.rotate(id, 60 * 60 * 1000);
   * ```
   */
  async rotate(id: string, overlapMs = parseDuration(KEY_OVERLAP_DEFAULT)): Promise<CreatedKey> {
    const key = getKey(id, 'keys.rotate');
    const overlap = readValue(overlapMs, 'keys.rotate: overlapMs', parseOverlap);
    const secret = generateApiKey();
    const created = await this.#shop.getStore().rotateKey(key, toStoredSecret(secret), overlap);
    return { ...describeKey(created), key: secret };
  }

  /**
   * The next request with the key is rejected. Idempotent.
   * @throws AppError `invalid_data`, `not_found`
   * @example
   * ```ts
   * const { id } = await shop.keys.create(seller.id, { name: 'till' });
   * await shop.keys.revoke(id);
   * ```
   */
  async revoke(id: string): Promise<Key> {
    return describeKey(await this.#shop.getStore().revokeKey(getKey(id, 'keys.revoke')));
  }
}

/** @throws AppError `invalid_data`, `not_found` */
async function getSeller(store: AccessStore, text: string, method: string): Promise<StoredSeller> {
  const seller = await findSellerNamed(store, readValue(text, method, parseText));
  if (seller) return seller;
  throw new AppError('not_found', 'No seller has this id or external id.');
}

function getKey(id: string, method: string): KeyReference {
  const key = parseKeyId(readValue(id, method, parseText));
  if (key) return key;
  throw new AppError('not_found', 'No key has this id. Ids of keys start with key_.');
}
