/** Addresses that several files name. */

/** All products of the caller. */
export const PRODUCTS = '/api/v1/products';

/** The stock of all products of the caller. */
export const STOCK = '/api/v1/stock';

/** Answered as long as the process does anything at all, also while it stops. */
export const HEALTH = '/healthz';

/** Answered with 200 while the server can do its work. */
export const READINESS = '/readyz';
