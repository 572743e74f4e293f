/** Sellers: the owners of catalogues. */
import { type Currency, findCurrency } from '../catalogue/currency.ts';
import { AppError } from '../error.ts';
import { formatSellerId, type SellerId } from '../id.ts';
import { NAME_LIMIT_CODE_POINTS } from '../limits.ts';
import { validateText } from '../text.ts';
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

export interface NewSeller {
  /** 1..200 code points. */
  readonly name: string;
  readonly currency: Currency;
}

/** A seller; times are milliseconds since 1970. */
export interface Seller extends NewSeller {
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
  { id, name, currency, position, createdAt, disabledAt }: Seller,
): SellerDescription {
  return {
    id: formatSellerId(id),
    name,
    currency: currency.code,
    position,
    created_at: formatTime(createdAt),
    disabled_at: formatOptionalTime(disabledAt),
  };
}

/** @throws AppError `invalid_data` */
export function parseNewSeller(name: string, currencyCode: string): NewSeller {
  const error = validateText(name, NAME_LIMIT_CODE_POINTS);
  if (error) throw new AppError('invalid_data', `The seller's name: ${error.detail}`);
  const currency = findCurrency(currencyCode);
  if (!currency) {
    const hint = 'Give an ISO 4217 code in capitals, such as EUR.';
    throw new AppError('invalid_data', `"${currencyCode}" is not a currency in use. ${hint}`);
  }
  return { name, currency };
}
