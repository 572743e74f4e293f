/** Addresses that several files name. */

/** All products of the caller. */
export const PRODUCTS = '/api/v1/products';

/** The history of the caller's catalogue. */
export const CHANGES = '/api/v1/changes';

/** The stock of all products of the caller. */
export const STOCK = '/api/v1/stock';

/** The ledger of stock. */
export const MOVEMENTS = `${STOCK}/movements`;
