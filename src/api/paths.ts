/** Addresses that several files name. */

/** All products of the caller. */
export const PRODUCTS = '/api/v1/products';
