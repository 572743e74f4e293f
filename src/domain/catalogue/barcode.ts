/**
 * Barcodes of products: GTINs, kept as sent, and compared as GTIN-14 padded with zeros (GS1 General
 * Specifications). Several products may have the same one, so it need not identify a product.
 */
import type { Issue } from '../error.ts';
import { BARCODE_PRODUCTS_NAMED_LIMIT } from '../limits.ts';
import { invalid, stringValidator, type Validator } from '../validation.ts';

/** Of GTIN-8, GTIN-12 (UPC-A), GTIN-13 (EAN-13) and GTIN-14. */
const BARCODE_LENGTHS: readonly number[] = [8, 12, 13, 14];
const DIGITS = /^\d+$/;

/** A GTIN (GS1 General Specifications, section 7.9: the check digit). */
export const barcodeValidator: Validator<string> = {
  schema: {
    type: 'string', pattern: `^(?:${BARCODE_LENGTHS.map((length) => `\\d{${length}}`).join('|')})$`,
  },
  parse(input) {
    const parsed = stringValidator.parse(input);
    if (!('value' in parsed)) return parsed;
    const { value } = parsed;
    if (!DIGITS.test(value)) return invalid('format', 'Must consist of digits only.');
    if (!BARCODE_LENGTHS.includes(value.length)) {
      return invalid('length', `Must have 8, 12, 13 or 14 digits, not ${value.length}. `
        + 'A spreadsheet may have removed leading zeros.');
    }
    const expected = findCheckDigit(value.slice(0, -1));
    if (value.endsWith(expected)) return { value };
    return invalid('format', `The last digit must be ${expected}: it checks the others.`);
  },
};

/**
 * A barcode as a number, by which barcodes are compared: as GTIN-14, padded with zeros. UPC-A and
 * EAN-13 of an item are equal then; those of a case, whose first digit differs, are not.
 */
export function toGtin(barcode: string): number {
  return Number(barcode);
}

/**
 * The error of a barcode that several products have.
 * @param skus Of these products in creation order: as many as are named, and one more if there are
 *   others.
 */
export function describeAmbiguous(skus: readonly string[]): Issue {
  const named = skus.slice(0, BARCODE_PRODUCTS_NAMED_LIMIT).map((sku) => JSON.stringify(sku));
  const others = skus.length > BARCODE_PRODUCTS_NAMED_LIMIT ? ', and others' : '';
  const detail = `Is the barcode of several products: ${named.join(', ')}${others}. Name one of `
    + 'them by its SKU.';
  return { pointer: '/barcode', code: 'ambiguous', detail };
}

/** Every second digit from the right counts three times. */
function findCheckDigit(digits: string): string {
  const sum = [...digits].reverse().reduce((total, digit, index) =>
    total + Number(digit) * (index % 2 === 0 ? 3 : 1), 0);
  return String((10 - sum % 10) % 10);
}
