/**
 * SKUs for rows that have none. Most shops on Shopify leave out the SKUs of their variants, whose
 * names are a handle and the values of up to three options.
 */
import type { Issue } from '../domain/error.ts';
import { invalidQuery } from '../http/request/query.ts';
import { unescapeFormula } from './csv-cells.ts';
import { normalizeName } from './header.ts';

/** What a SKU can be made from. */
export const SKU_SOURCES = ['handle+options'] as const;
export type SkuSource = (typeof SKU_SOURCES)[number];

const HANDLE = /^(?:url )?handle$/;
const OPTION_VALUE = /^option[1-3] value$/;
/** The option of a Shopify product without variants. */
const NO_OPTION = 'Default Title';

/** The error of a row of Shopify without a SKU. */
export const NO_SKU: Issue = {
  pointer: '/sku', code: 'blank',
  detail: 'Must not be blank. To make SKUs from the handles and options of Shopify, set '
    + 'sku_from=handle+options.',
};

/** Whether a file has products of Shopify, whose variants need no SKU. */
export function hasHandles(header: readonly string[]): boolean {
  return header.some((name) => HANDLE.test(normalizeName(name)));
}

/**
 * Returns how a variant without a SKU gets one, such as `linen-shirt/S/blue`: from the handle of
 * its product and the values of its options. Blank for a row that is no variant.
 * @throws AppError `invalid_query` if the file has no handles
 */
export function createSkuSource(
  header: readonly string[], source: SkuSource | undefined,
): (cells: readonly string[]) => string {
  if (source === undefined) return () => '';
  const names = header.map(normalizeName);
  const handle = names.findIndex((name) => HANDLE.test(name));
  if (handle < 0) {
    const detail = 'Is for files of Shopify, which have a column "Handle". Omit it.';
    throw invalidQuery([{ parameter: 'sku_from', code: 'mismatch', detail }]);
  }
  const options = [...names.keys()].filter((index) => OPTION_VALUE.test(names[index] ?? ''));
  return (cells) => {
    const read = (index: number): string => unescapeFormula(cells[index] ?? '').trim();
    const values = options.map(read).filter((value) => value);
    const parts = [read(handle), ...values.filter((value) => value !== NO_OPTION)];
    return values.length > 0 && parts[0] !== '' ? parts.join('/') : '';
  };
}
