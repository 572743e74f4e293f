/** Paths that several files use. */

/** The caller's products. */
export const PRODUCTS = '/api/v1/products';

/** The stock of the caller's products. */
export const STOCK = '/api/v1/stock';

/** Answered as long as the process runs, also while it stops. */
export const HEALTH = '/healthz';

/** 200 while the server is ready for requests. */
export const READINESS = '/readyz';
