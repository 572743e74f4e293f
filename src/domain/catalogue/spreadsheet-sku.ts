/**
 * SKUs that a spreadsheet changed when it opened a file: without its zeros, a SKU may be that of
 * another product, which the id beside it tells.
 */
import type { Issue } from '../error.ts';

/** The error of a row whose id belongs to a product with another SKU. */
export function describeIdOwner(ownerSku: string): Issue {
  const detail = `Is the id of your product ${JSON.stringify(ownerSku)}. Correct the SKU, or remove`
    + ' the id from the row if the SKU is right. A file cannot change a SKU.';
  return { pointer: '/id', code: 'mismatch', detail };
}
