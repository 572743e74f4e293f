/**
 * Recognises SKUs that a spreadsheet changed when it opened a file: it reads them as numbers and
 * dates, and saves what it shows. A shortened number has lost digits, so no product should be
 * created from it; a date may be a SKU. A SKU without its zeros may be that of another product,
 * which the id beside it tells.
 */
import { AppError, type Issue } from '../error.ts';

/** Such as 4.00638E+12, and 4,00638E+12 in other countries. */
const SHORTENED_NUMBER = /^\d(?:[.,]\d+)?E\+\d+$/i;
/** Such as 1E5, which a spreadsheet reads as 100000. */
const EXPONENT = /^\d+(?:[.,]\d+)?E\+?\d\d?$/i;
/** Such as 4711.0, as programs write a column of numbers that has blank cells. */
const DECIMAL_NUMBER = /^\d{3,}[.,]0$/;

/** The first three letters of months in English, German, French, Spanish, Italian and Dutch. */
const MONTH = '(?:jan|ene|gen|feb|fév|mar|mär|mrz|mrt|apr|avr|abr|may|mai|mei|mag|jun|jui|giu|jul|'
  + 'lug|aug|aoû|ago|sep|set|oct|okt|ott|nov|dec|dez|déc|dic)';
/** Such as 4-Mar, 04. Mrz, Mar-24, 3/4/2024, 04.03.24 and 2024-03-04. */
const DATES: readonly RegExp[] = [
  new RegExp(String.raw`^\d{1,2}\.?[- ]${MONTH}\.?(?:[- ]\d{2,4})?$`, 'i'),
  new RegExp(String.raw`^${MONTH}\.?[- ]\d{2,4}$`, 'i'),
  /^(?:0?[1-9]|[12]\d|3[01])([/.])(?:0?[1-9]|[12]\d|3[01])\1(?:\d\d|\d{4})$/,
  /^(?:19|20)\d\d-\d\d-\d\d$/,
];

/** Whether no product should be created from it. */
export function isChangedNumber(sku: string): boolean {
  return SHORTENED_NUMBER.test(sku) || DECIMAL_NUMBER.test(sku);
}

export function looksLikeDate(sku: string): boolean {
  return DATES.some((date) => date.test(sku));
}

/**
 * The same for SKUs that people and programs confuse: they differ in case, accents, spaces, marks,
 * and leading zeros, or one is the other as a number.
 */
export function foldSku(sku: string): string {
  const number = EXPONENT.test(sku) ? String(Number(sku.replace(',', '.'))) : sku;
  const text = number.normalize('NFKD').toLowerCase().toUpperCase(); // ß is SS
  return text.replace(/[^\p{L}\p{N}]/gu, '').replace(/^0+(?=.)/, '') || sku;
}

/** The error of a row whose id belongs to a product with another SKU. */
export function describeIdOwner(ownerSku: string): Issue {
  const detail = `Is the id of your product ${JSON.stringify(ownerSku)}. Correct the SKU, or remove`
    + ' the id from the row if the SKU is right. A file cannot change a SKU.';
  return { pointer: '/id', code: 'mismatch', detail };
}

/**
 * The error of a stocktake with an unknown SKU.
 * @param subject what has the SKU, such as `Line 2`
 * @param effect such as `nothing was changed`
 * @param meant the product to be set to 0 that it may mean; undefined if that can be any
 */
export function unclearSku(subject: string, effect: string, meant?: string): AppError {
  const fault = meant === undefined ? 'does not identify its product'
    : `has a SKU that no product has, and may mean your product ${JSON.stringify(meant)}`;
  const other = meant === undefined ? '' : ', or name that product, too,';
  const remedy = `Correct the SKU${other} and send the stocktake again.`;
  return new AppError('sync_refused', `${subject} ${fault}, so ${effect}. ${remedy}`);
}

/** What to do about a SKU that no product has, if a spreadsheet may have changed it. */
export function explainUnknownSku(sku: string): string | undefined {
  if (DECIMAL_NUMBER.test(sku)) return 'A program has added decimals. Write the SKU without them.';
  const fault = SHORTENED_NUMBER.test(sku) ? 'A spreadsheet has shortened this number.'
    : looksLikeDate(sku) ? 'A spreadsheet may have changed it to a date.' : undefined;
  return fault && `${fault} Format the column as text, and enter the SKU again.`;
}
