/**
 * Sellers and their API keys, for the program that embeds the server. Wrong arguments are reported
 * as `invalid_data`, as the API reports wrong data.
 */
import {
  describeKey, generateApiKey, hashApiKey, type KeyDescription, parseNewApiKey,
} from '../domain/access/api-key.ts';
import type { Scope } from '../domain/access/caller.ts';
import { describeSeller, parseNewSeller, type SellerDescription } from '../domain/access/seller.ts';
import { AppError } from '../domain/error.ts';
import {
  type KeyId, type KeyReference, parseKeyId, parseSellerId, type SellerId,
} from '../domain/id.ts';
import type { AccessStore } from '../store/access-store.ts';
import type { PageQuery } from '../store/write.ts';

export type Seller = SellerDescription;
export type Key = KeyDescription;

export interface NewSeller {
  /** 1 to 200 code points. */
  readonly name: string;
  /** ISO 4217; all prices of the seller are in it. Default EUR. */
  readonly currency?: string;
}

export interface NewKey {
  /** What the key is used for: 1 to 100 code points. */
  readonly name: string;
  /** Default: all. */
  readonly scopes?: readonly Scope[];
  /** Client addresses and CIDR ranges that may use it. Default: any. */
  readonly allow?: readonly string[];
  /** Default: never. */
  readonly expires?: Date;
}

/** A new key: the only time that its secret is known. */
export interface CreatedKey extends Key {
  /** The secret, `spk_...`. */
  readonly key: string;
}

const PAGE_SIZE = 1_000;
const DEFAULT_OVERLAP_MS = 24 * 60 * 60 * 1000;

export class Sellers {
  readonly #store: AccessStore;

  /** @internal */
  constructor(store: AccessStore) {
    this.#store = store;
  }

  /** @throws AppError `invalid_data` */
  async create(seller: NewSeller): Promise<Seller> {
    const { name, currency = 'EUR' } = asObject(seller);
    return describeSeller(await this.#store.createSeller(
      parseNewSeller(asText(name, 'name'), asText(currency, 'currency'))));
  }

  /** All sellers, oldest first. */
  async* list(): AsyncGenerator<Seller, void, void> {
    for await (const seller of readAll<SellerId, Parameters<typeof describeSeller>[0]>((query) =>
      this.#store.listSellers(query))) yield describeSeller(seller);
  }

  /** The keys, sign-in and webhooks of the seller stop working at once; all data stays. */
  disable(id: string): Promise<Seller> {
    return this.#setDisabled(id, true);
  }

  enable(id: string): Promise<Seller> {
    return this.#setDisabled(id, false);
  }

  async #setDisabled(id: string, isDisabled: boolean): Promise<Seller> {
    return describeSeller(await this.#store.setSellerDisabled(getSellerId(id), isDisabled));
  }
}

export class Keys {
  readonly #store: AccessStore;

  /** @internal */
  constructor(store: AccessStore) {
    this.#store = store;
  }

  /** @param seller Its id. @throws AppError `invalid_data`, `not_found`, `limit_reached` */
  async create(seller: string, key: NewKey): Promise<CreatedKey> {
    const { name, scopes = [], allow: addressRanges = [], expires } = asObject(key);
    const secret = generateApiKey();
    const created = await this.#store.createKey(getSellerId(seller), hashApiKey(secret),
      parseNewApiKey({
        name: asText(name, 'name'), scopes: asTexts(scopes, 'scopes'),
        addressRanges: asTexts(addressRanges, 'allow'), expiresAt: asTime(expires),
      }));
    return { ...describeKey(created), key: secret };
  }

  /** The keys of a seller, oldest first, with those that are revoked or have expired. */
  async* list(seller: string): AsyncGenerator<Key, void, void> {
    const sellerId = getSellerId(seller);
    for await (const key of readAll<KeyId, Parameters<typeof describeKey>[0]>((query) =>
      this.#store.listKeys(sellerId, query))) yield describeKey(key);
  }

  /**
   * Creates a key with the same permissions; the old one expires after an overlap.
   * @param overlapMs Default: 24 hours. @throws AppError `not_found`
   */
  async rotate(id: string, overlapMs = DEFAULT_OVERLAP_MS): Promise<CreatedKey> {
    const secret = generateApiKey();
    const created = await this.#store.rotateKey(getKey(id), hashApiKey(secret), overlapMs);
    return { ...describeKey(created), key: secret };
  }

  /** The next request with the key is rejected. Idempotent. @throws AppError `not_found` */
  async revoke(id: string): Promise<Key> {
    return describeKey(await this.#store.revokeKey(getKey(id)));
  }
}

async function* readAll<Id, Item extends { readonly id: Id }>(
  read: (query: PageQuery<Id>) => Promise<readonly Item[]>,
): AsyncGenerator<Item, void, void> {
  for (let after: Id | undefined; ;) {
    const page = await read({ after, limit: PAGE_SIZE });
    yield* page;
    if (page.length < PAGE_SIZE) return;
    after = page.at(-1)?.id;
  }
}

function getSellerId(id: string): SellerId {
  const sellerId = parseSellerId(asText(id, 'seller'));
  if (sellerId !== undefined) return sellerId;
  throw new AppError('not_found', 'No seller has this id. Ids of sellers start with sel_.');
}

function getKey(id: string): KeyReference {
  const key = parseKeyId(asText(id, 'key'));
  if (key) return key;
  throw new AppError('not_found', 'No key has this id. Ids of keys start with key_.');
}

function asObject<Members extends object>(value: Members): Partial<Members> {
  if (typeof value === 'object' && value !== null) return value;
  throw wrongType('', 'an object');
}

function asText(value: unknown, member: string): string {
  if (typeof value === 'string') return value;
  throw wrongType(`/${member}`, 'a string');
}

function asTexts(values: unknown, member: string): string[] {
  if (!Array.isArray(values)) throw wrongType(`/${member}`, 'an array of strings');
  return values.map((value) => asText(value, member));
}

function asTime(value: Date | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.getTime();
  throw wrongType('/expires', 'a Date');
}

function wrongType(pointer: string, type: string): AppError {
  const detail = `Must be ${type}.`;
  const what = pointer === '' ? 'The argument' : pointer.slice(1);
  return new AppError('invalid_data', `${what} must be ${type}.`, {
    issues: [{ pointer, code: 'type', detail }],
  });
}
