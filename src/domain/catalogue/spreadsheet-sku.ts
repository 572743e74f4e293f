/**
 * Recognises SKUs that a spreadsheet changed when it opened a file: it reads them as numbers and
 * dates, and saves what it shows. A shortened number has lost digits, so no product should be
 * created from it; a date may be a SKU. A SKU without its zeros may be that of another product,
 * which the id beside it tells.
 */
import { AppError, type Issue } from '../error.ts';

/** Such as 4.00638E+12, and 4,00638E+12 in other countries. */
const SHORTENED_NUMBER = /^\d(?:[.,]\d+)?E\+\d+$/i;
/** Such as 1E5, which a spreadsheet reads as 100000, and 2E-10, which it shows as 2.00E-10. */
const EXPONENT = /^\d+(?:[.,]\d+)?E[+-]?\d\d?$/i;
/** Such as 4711.0, as programs write a column of numbers that has blank cells. */
const DECIMAL_NUMBER = /^\d{3,}[.,]0+$/;
/** The decimals of a number without any, unless they may be thousands. */
const NO_DECIMALS = /^(\d+)[.,](?:0{1,2}|0{4,})$|^(\d{4,})[.,]000$/;
/** A spreadsheet keeps 15 digits of a number. */
const LONG_NUMBER = /^(\d{15})\d+$/;

/** In English, German, French, Spanish, Italian, Dutch, Portuguese, Polish and Swedish. */
const MONTHS = `
  january february march april may june july august september october november december
  januar februar marz mrz mai juni juli oktober dezember
  janvier fevrier mars avril juin juillet aout septembre octobre novembre decembre
  enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
  gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
  januari februari maart mrt mei augustus janeiro fevereiro marco maio junho julho setembro outubro
  novembro dezembro stycznia lutego marca kwietnia maja czerwca lipca sierpnia wrzesnia pazdziernika
  listopada grudnia augusti`.trim().split(/\s+/);
/** Such as 4-Mar, 04. Mrz, 04-juin, and Mar-24. */
const NAMED_DATE = /^(?:\d{1,2}\.?[- ])?(\p{L}{3,})\.?(?:[- ]\d{2,4})?$/u;
/** Such as 3/4/2024, 04.03.24, 2024-03-04 and 2024/03/04 00:00:00. */
const DATES: readonly RegExp[] = [
  /^(?:0?[1-9]|[12]\d|3[01])([/.])(?:0?[1-9]|[12]\d|3[01])\1(?:\d\d|\d{4})$/,
  /^(?:19|20)\d\d([/-])\d\d\1\d\d(?: 00:00:00)?$/,
];

/** Whether no product should be created from it. */
export function isChangedNumber(sku: string): boolean {
  return SHORTENED_NUMBER.test(sku) || DECIMAL_NUMBER.test(sku);
}

export function looksLikeDate(sku: string): boolean {
  const [, name] = NAMED_DATE.exec(sku.normalize('NFC')) ?? [];
  if (name === undefined) return DATES.some((date) => date.test(sku));
  const month = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return /\d/.test(sku) && MONTHS.some((other) => other.startsWith(month));
}

/**
 * The same for SKUs that people and programs confuse: they differ in case, accents, spaces, marks,
 * and leading zeros, or one is the other as a spreadsheet shows it.
 */
export function foldSku(sku: string): string {
  const number = EXPONENT.test(sku) ? String(Number(sku.replace(',', '.')))
    : sku.replace(NO_DECIMALS, '$1$2').replace(/^(\d{1,2}:\d\d):00$/, '$1');
  const shown = number.replace(LONG_NUMBER, (all, kept: string) => kept.padEnd(all.length, '0'));
  const text = shown.normalize('NFKD').toLowerCase().toUpperCase(); // ß is SS
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
 * @param meaning the product to be set to 0 that the SKU may mean; or, if that can be any, why
 */
export function unclearSku(
  subject: string, effect: string,
  meaning: { readonly product: string } | { readonly reason: string },
): AppError {
  const [fault, other, reason = ''] = 'product' in meaning
    ? ['has a SKU that no product has, and may mean your product '
      + JSON.stringify(meaning.product), 'name that product, too']
    : ['does not identify its product', 'create its product first', ` ${meaning.reason}`];
  const remedy = `Correct the SKU, or ${other}, and send the stocktake again.${reason}`;
  return new AppError('sync_refused', `${subject} ${fault}, so ${effect}. ${remedy}`);
}

/** What to do about a SKU that no product has, if a spreadsheet may have changed it. */
export function explainUnknownSku(sku: string): string | undefined {
  if (DECIMAL_NUMBER.test(sku)) return 'A program has added decimals. Write the SKU without them.';
  const fault = SHORTENED_NUMBER.test(sku) ? 'A spreadsheet has shortened this number.'
    : looksLikeDate(sku) ? 'A spreadsheet may have changed it to a date.' : undefined;
  return fault && `${fault} Format the column as text, and enter the SKU again.`;
}
