/**
 * SKUs with a mark that only means text: Shopify writes `'101`, and users of spreadsheets write
 * `="00123"`. The row means the SKU without the mark, unless a product has the SKU with it.
 */
import { findSku } from '../domain/catalogue/product.ts';
import type { Issue } from '../domain/error.ts';
import type { SellerId } from '../domain/id.ts';
import type { CatalogueStore } from '../store/catalogue-store.ts';

/** Yields the rows; those that may mean either product are rejected. */
export async function* rejectMarkedSkus<Row extends { readonly markedSku?: string | undefined }>(
  slices: AsyncIterable<readonly Row[]>, store: Pick<CatalogueStore, 'findProduct'>,
  sellerId: SellerId, reject: (row: Row, issue: Issue) => Row,
): AsyncGenerator<readonly Row[], void, void> {
  const check = async (row: Row): Promise<Row> => {
    const sku = row.markedSku === undefined ? undefined : findSku(row.markedSku);
    const product = sku === undefined ? undefined : await store.findProduct(sellerId, { sku });
    return product ? reject(row, describe(product.sku)) : row;
  };
  for await (const rows of slices) {
    const hasMarks = rows.some(({ markedSku }) => markedSku !== undefined);
    yield hasMarks ? await Promise.all(rows.map(check)) : rows;
  }
}

function describe(sku: string): Issue {
  const fault = `Could mean your product ${JSON.stringify(sku)}, or the SKU without the mark`;
  const detail = `${fault}. Write '${sku} for that product, and the digits alone for the other.`;
  return { pointer: '/sku', code: 'mismatch', detail };
}
