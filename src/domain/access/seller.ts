/** Sellers: the owners of catalogues. */
import { type Currency, findCurrency } from '../catalogue/currency.ts';
import { AppError } from '../error.ts';
import { formatSellerId, parseSellerId, type SellerId } from '../id.ts';
import { EXTERNAL_ID_LIMIT_CODE_POINTS, NAME_LIMIT_CODE_POINTS } from '../limits.ts';
import { validateIdentifier, validateText, type ValidationError } from '../text.ts';
import { formatOptionalTime, formatTime } from '../time.ts';

/** Of a seller for whom none is given. */
export const DEFAULT_CURRENCY = 'EUR';

/** What a shop's people share. */
export interface ShopSettings {
  /** Stock up to which a product is low: 0 to 1,000,000,000. */
  readonly lowStock: number;
  /** Whether accounts that sign in with one factor must set up two before anything else. */
  readonly requiresTwoFactor: boolean;
}

/** An id of a seller that the embedding program has chosen. */
export type ExternalId = string & { readonly [brand]: 'ExternalId' };
declare const brand: unique symbol;

/** Names a seller: its id, or its external id. */
export type SellerReference = SellerId | ExternalId;

export interface NewSeller {
  /** 1..200 code points. */
  readonly name: string;
  readonly currency: Currency;
  /** Unique; null or undefined for none. */
  readonly externalId?: ExternalId | null | undefined;
}

/** Undefined members stay as they are. */
export type SellerPatch = Partial<Pick<NewSeller, 'name' | 'externalId'>>;

/** A seller; times are milliseconds since 1970. */
export interface Seller extends NewSeller {
  readonly externalId?: ExternalId;
  readonly id: SellerId;
  /** Position of the last change of the catalogue; 0 before any. */
  readonly position: number;
  readonly createdAt: number;
  /** Undefined unless the seller is disabled. */
  readonly disabledAt?: number;
}

/** A seller as the command line and embedding programs show one. Times are RFC 3339. */
export interface SellerDescription {
  /** `sel_...`. */
  readonly id: string;
  /** 1 to 200 code points. */
  readonly name: string;
  /** The id that the embedding program has given it; null without one. */
  readonly external_id: string | null;
  /** ISO 4217. */
  readonly currency: string;
  /** Counts the changes of the catalogue. */
  readonly position: number;
  /** When the seller was created. */
  readonly created_at: string;
  /** When the seller was disabled; null unless it is. */
  readonly disabled_at: string | null;
}

export function describeSeller(
  { id, name, externalId, currency, position, createdAt, disabledAt }: Seller,
): SellerDescription {
  return {
    id: formatSellerId(id),
    name,
    external_id: externalId ?? null,
    currency: currency.code,
    position,
    created_at: formatTime(createdAt),
    disabled_at: formatOptionalTime(disabledAt),
  };
}

/** A seller whose data was deleted. */
export interface DeletedSeller {
  /** The id that it had, `sel_...`. */
  readonly id: string;
  /** When the deletion began (RFC 3339). */
  readonly deleted_at: string;
  /** Where the data can still be. */
  readonly note: string;
}

export function describeDeletedSeller(id: SellerId, deletedAt: number): DeletedSeller {
  return {
    id: formatSellerId(id),
    deleted_at: formatTime(deletedAt),
    note: 'Backups and other copies from before still contain the data until you delete them, and '
      + 'PostgreSQL keeps it in its files until it has vacuumed them.',
  };
}

/** @throws AppError `invalid_data` */
export function parseNewSeller(
  name: string, currencyCode: string, externalId?: string | null,
): NewSeller {
  const patch = parseSellerPatch({ name, externalId });
  const currency = findCurrency(currencyCode);
  if (!currency) {
    const hint = 'Give an ISO 4217 code in capitals, such as EUR.';
    throw new AppError('invalid_data', `"${currencyCode}" is not a currency in use. ${hint}`);
  }
  return { ...patch, name, currency };
}

/** @throws AppError `invalid_data` */
export function parseSellerPatch(
  { name, externalId }: { readonly name?: string; readonly externalId?: string | null | undefined },
): SellerPatch {
  const nameError = name === undefined ? undefined : validateText(name, NAME_LIMIT_CODE_POINTS);
  if (nameError) throw new AppError('invalid_data', `The seller's name: ${nameError.detail}`);
  const error = externalId == null ? undefined : validateExternalId(externalId);
  if (error) throw new AppError('invalid_data', `The seller's external id: ${error.detail}`);
  return {
    ...(name !== undefined && { name }),
    // The cast: it was validated.
    ...(externalId !== undefined && { externalId: externalId as ExternalId | null }),
  };
}

/** Undefined for what no seller can have as its id or external id. */
export function parseSellerReference(text: string): SellerReference | undefined {
  // The cast is what the validation proves.
  return parseSellerId(text) ?? (validateExternalId(text) ? undefined : text as ExternalId);
}

/** The seller with an id or external id. */
export async function findSellerNamed(
  store: { findSeller(reference: SellerReference): Promise<Seller | undefined> }, text: string,
): Promise<Seller | undefined> {
  const reference = parseSellerReference(text);
  return reference === undefined ? undefined : await store.findSeller(reference);
}

/** No external id looks like an id, so a reference has one meaning. */
function validateExternalId(text: string): ValidationError | undefined {
  if (text.startsWith('sel_')) {
    return { code: 'format', detail: 'Must not begin with sel_, as the ids of sellers do.' };
  }
  return validateIdentifier(text, EXTERNAL_ID_LIMIT_CODE_POINTS);
}
