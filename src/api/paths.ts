/** Addresses that several files name. */

/** All products of the caller. */
export const PRODUCTS = '/api/v1/products';

/** The history of the caller's catalogue. */
export const CHANGES = '/api/v1/changes';

/** The stock of all products of the caller. */
export const STOCK = '/api/v1/stock';

/** The ledger of stock. */
export const MOVEMENTS = `${STOCK}/movements`;

/** Answered as long as the process does anything at all, also while it stops. */
export const HEALTH = '/healthz';

/** Answered with 200 while the server can do its work. */
export const READINESS = '/readyz';

/** The figures of the server, where it tells them. */
export const METRICS = '/metrics';

/** All endpoints of webhooks of the caller. */
export const WEBHOOKS = '/api/v1/webhooks';
