/**
 * The JSON of products as types. `test/client/product.test.ts` compares them, and their comments,
 * with the table of product fields.
 */
import type { SortKey } from '../domain/catalogue/product-query.ts';

export type { SortKey };

/**
 * A position in the history of the catalogue, to pass on as it is: an integer or, in a catalogue
 * that was restored from a backup, text such as `k7w2q-10`.
 */
export type Position = number | string;

/** A product. Optional members without a value are absent. */
export interface Product {
  /** Opaque. Starts with `prd_`. */
  readonly id: string;
  /**
   * Kept exactly as sent. At least one visible character; no control characters or line breaks.
   * 1 to 200 code points.
   */
  readonly name: string;
  /** Any text, with the same rules as `name`. 1 to 100 code points. */
  readonly category: string;
  /**
   * Your own code: case-sensitive, unique in your catalogue, normalised to NFC. Allowed are
   * letters, marks, numbers, punctuation and symbols (Unicode categories L, M, N, P and S) and
   * inner spaces (U+0020); not allowed are invisible characters and a leading combining mark.
   * 1 to 64 code points.
   */
  readonly sku: string;
  /**
   * In your currency, with at most its number of decimals: EUR 2, JPY 0, KWD 3. In the major unit:
   * 12.5 is EUR 12.50. From 0, below 1,000,000,000,000.
   */
  readonly price: number;
  /** ISO 4217. The same for all your products. */
  readonly currency: string;
  /** The available quantity. An integer from 0 to 1,000,000,000. */
  readonly stock: number;
  /**
   * Position of the product's last change in your catalogue's history. From 1. It is the version of
   * the product, for `ifMatch`.
   */
  readonly position: Position;
  /** When the product was created: RFC 3339, in UTC. */
  readonly created_at: string;
  /** When the product was last changed: RFC 3339, in UTC. */
  readonly updated_at: string;
  /**
   * A GTIN: EAN-8, UPC-A, EAN-13 or GTIN-14, with a correct check digit. Several products may have
   * the same one.
   */
  readonly barcode?: string;
  /**
   * Plain text with line breaks, which become LF, but no other control characters.
   * 1 to 5,000 code points.
   */
  readonly description?: string;
  /**
   * Up to 20 pairs of texts, such as ids in other systems. Patches and imports merge pairs; in
   * them, null removes a pair. Names have up to 40 code points, values up to 500.
   */
  readonly metadata?: Readonly<Record<string, string>>;
  /**
   * The stock up to which the product is low, instead of the shop's threshold. An integer from 0 to
   * 1,000,000,000.
   */
  readonly low_stock?: number;
  /**
   * Whether lists leave the product out unless they ask for it. It keeps its SKU, and its stock can
   * change. False restores it.
   */
  readonly archived?: boolean;
}

/** The name of a product's member, and of its column in an export. */
export type ProductFieldName = keyof Product;

/** A product to create. Null for an optional member means no value. */
export interface NewProduct
  extends Pick<Product, 'name' | 'category' | 'sku' | 'price' | 'stock'> {
  /**
   * A GTIN: EAN-8, UPC-A, EAN-13 or GTIN-14, with a correct check digit. Several products may have
   * the same one.
   */
  readonly barcode?: string | null;
  /**
   * Plain text with line breaks, which become LF, but no other control characters.
   * 1 to 5,000 code points.
   */
  readonly description?: string | null;
  /**
   * Up to 20 pairs of texts, such as ids in other systems. Patches and imports merge pairs; in
   * them, null removes a pair. Names have up to 40 code points, values up to 500.
   */
  readonly metadata?: Readonly<Record<string, string | null>> | null;
  /**
   * The stock up to which the product is low, instead of the shop's threshold. An integer from 0 to
   * 1,000,000,000.
   */
  readonly low_stock?: number | null;
  /**
   * Whether lists leave the product out unless they ask for it. It keeps its SKU, and its stock can
   * change. False restores it.
   */
  readonly archived?: boolean | null;
}

/** A product to create or replace. The SKU is in the path; if `sku` is sent, it must be equal. */
export type ProductReplacement = Omit<NewProduct, 'sku'> & Optional<Pick<NewProduct, 'sku'>>;

/**
 * The members to change. Null removes the value of an optional member, or a pair of `metadata`,
 * whose pairs are merged.
 */
export type ProductPatch = Optional<NewProduct>;

/**
 * A row of an import: what it leaves out stays as it is in an existing product, and null removes
 * an optional member or a pair of `metadata`. Rows may have all members of an export.
 */
export type ImportProduct =
  Optional<Omit<Product, keyof NewProduct> & Omit<NewProduct, 'sku'>> & Pick<NewProduct, 'sku'>;

/** A member may be left out or undefined, also with `exactOptionalPropertyTypes`. */
export type Optional<Members> = {
  /** As in `Members`. */
  readonly [Member in keyof Members]?: Members[Member] | undefined;
};

/** A query of a lookup: has exactly one of these members. */
export type ProductLookup = {
  /** The SKU of the product. */
  readonly sku: string;
} | {
  /** The id of the product. */
  readonly id: string;
} | {
  /** The barcode of the products, with any number of leading zeros. */
  readonly barcode: string;
} | {
  /** Pairs that the products have, all of them. */
  readonly metadata: Readonly<Record<string, string>>;
};

/** Conditions of a list; a product must match all. */
export interface ProductQuery {
  /**
   * Words, in any order: each is a part of the name, the SKU, the category or the barcode. Ignores
   * case, accents, and punctuation in SKUs.
   */
  readonly q?: string | undefined;
  /** The exact category. */
  readonly category?: string | undefined;
  /** The exact SKU. */
  readonly sku?: string | undefined;
  /** The barcode, with any number of leading zeros. */
  readonly barcode?: string | undefined;
  /** Pairs that the product has, such as `{ erp_id: '10473' }`. Case and white space count. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** The lowest price. */
  readonly priceMin?: number | undefined;
  /** The highest price. */
  readonly priceMax?: number | undefined;
  /** The lowest stock. */
  readonly stockMin?: number | undefined;
  /** The highest stock. */
  readonly stockMax?: number | undefined;
  /** Changed at this time or later. To synchronise, use `changedSince`. Text is RFC 3339. */
  readonly updatedSince?: string | Date | undefined;
  /**
   * Changed after this position of the catalogue. A product that was archived since is only found
   * with `archived: 'any'`.
   */
  readonly changedSince?: Position | undefined;
  /**
   * False: products that are not archived; true: only archived ones; `any`: both. Default: false,
   * and `any` for exports.
   */
  readonly archived?: boolean | 'any' | undefined;
  /**
   * Default `id`, the creation order. A leading minus reverses an order. Ties are sorted by id.
   */
  readonly sort?: SortKey | `-${SortKey}` | undefined;
}
