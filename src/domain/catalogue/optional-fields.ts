/**
 * The optional product fields, in the order in which they were added. A product without a value has
 * no such member in JSON, so that these fields change nothing for products that do not use them.
 */
import { DESCRIPTION_LIMIT_CODE_POINTS, METADATA_PAIRS_LIMIT } from '../limits.ts';
import { validateParagraphs } from '../text.ts';
import { invalid, stringValidator, type ParseResult, type Validator } from '../validation.ts';
import { barcodeValidator } from './barcode.ts';
import { metadataValidator } from './metadata.ts';
import { type SentFieldDefinition, stockQuantity } from './product-definition.ts';

const LINE_BREAKS = /\r\n?/g;

const description: Validator<string> = {
  schema: { type: 'string', minLength: 1, maxLength: DESCRIPTION_LIMIT_CODE_POINTS },
  parse(input) {
    const parsed = stringValidator.parse(input);
    if (!('value' in parsed)) return parsed;
    const value = parsed.value.replaceAll(LINE_BREAKS, '\n');
    const error = validateParagraphs(value, DESCRIPTION_LIMIT_CODE_POINTS);
    return error ? { error } : { value };
  },
};

const archived = {
  schema: { type: 'boolean' },
  /** Only true is a value. */
  parse: (value: unknown): ParseResult<true | null> => (typeof value === 'boolean'
    ? { value: value || null } : invalid('type', 'Must be true or false.')),
};

export const optionalDefinitions = [
  {
    name: 'barcode', member: 'barcode', column: 'barcode', kind: 'text', isRequired: false,
    label: 'Barcode',
    ...barcodeValidator,
    description: 'A GTIN: EAN-8, UPC-A, EAN-13 or GTIN-14, with a correct check digit. Several '
      + 'products may have the same one.',
    example: '4006381333931',
    read: ({ barcode }) => barcode,
    shopColumns: {
      shopify: ['variant barcode'], shopifyUrlHandle: ['barcode'],
      wooCommerce: ['gtin, upc, ean, or isbn'], magento: ['barcode', 'gtin', 'ean', 'upc'],
    },
  },
  {
    name: 'description', member: 'description', column: 'description', kind: 'paragraphs',
    isRequired: false, label: 'Description',
    ...description,
    description: 'Plain text with line breaks, which become LF, but no other control characters.',
    example: 'Stoneware.\nDishwasher-safe.',
    read: (product) => product.description,
    shopColumns: {
      shopify: ['body (html)'], shopifyUrlHandle: ['description'], wooCommerce: ['description'],
      magento: ['description'],
    },
  },
  {
    name: 'metadata', member: 'metadata', column: 'metadata', kind: 'pairs', isRequired: false,
    label: 'Metadata',
    ...metadataValidator,
    description: `Up to ${METADATA_PAIRS_LIMIT} pairs of texts, such as ids in other systems. `
      + 'Patches and imports merge pairs; in them, null removes a pair.',
    example: { erp_id: '10473' },
    read: ({ metadata }) => metadata,
    shopColumns: {},
  },
  {
    name: 'low_stock', member: 'lowStock', column: 'low_stock', kind: 'quantity',
    isRequired: false, label: 'Low-stock threshold',
    ...stockQuantity,
    description: 'The stock up to which the product is low, instead of the shop\'s threshold.',
    example: 10,
    read: ({ lowStock }) => lowStock,
    shopColumns: { wooCommerce: ['low stock amount'] },
  },
  {
    name: 'archived', member: 'archived', column: 'archived', kind: 'flag', isRequired: false,
    label: 'Archived',
    ...archived,
    description: 'Whether lists leave the product out unless they ask for it. It keeps its SKU, '
      + 'and its stock can change. False restores it.',
    example: true,
    read: (product) => product.archived,
    shopColumns: {},
  },
] as const satisfies readonly SentFieldDefinition[];
