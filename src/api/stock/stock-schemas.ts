/** The JSON Schemas of stock: levels, and requests that change stock. */
import { STOCK_CHANGE_VALIDATORS, type StockStatus } from '../../domain/catalogue/stock-change.ts';
import { STOCK_SYNC_VALIDATORS } from '../../domain/catalogue/stock-sync.ts';
import { skuReference, stockQuantity } from '../../domain/catalogue/product-fields.ts';
import {
  count, describeMembers, enumOf, nullable, objectOf, pageOf, refer,
} from '../description/schema.ts';
import type { Schema } from '../../domain/validation.ts';

const { changes, ...syncMembers } = STOCK_SYNC_VALIDATORS;
const stock = stockQuantity.schema;
export const positionSchema = { type: 'integer', minimum: 1 };
const sku = skuReference.schema;
export const productIdSchema = { type: 'string', pattern: '^prd_[0-9a-z]{1,36}$' };

const statuses: Readonly<Record<StockStatus, string>> = {
  ok: 'the stock was changed',
  unchanged: 'the stock was the same already',
  not_found: 'you have no such product',
  conflict: 'the stock is not the one that `expect` names',
  stale: 'the `sequence` is not above the last one of its source',
  insufficient: 'there is less stock than was to be removed',
  invalid: 'the change is not one, for the reasons in `errors`',
};

const result = {
  sku: nullable(sku),
  id: { type: ['string', 'null'], description: 'As sent where there is no such product.' },
  status: { type: 'string', ...enumOf(statuses) },
  previous: nullable(stock),
  stock: { ...nullable(stock), description: 'The stock now.' },
  position: { ...nullable(positionSchema), description: 'Of the last change of the product.' },
  errors: { type: 'array', items: refer('Issue') },
};
const resultMembers = ['sku', 'id', 'status', 'previous', 'stock', 'position'];

const counts = {
  applied: { ...count, description: 'Changes that are `ok`.' },
  failed: { ...count, description: 'Changes that are neither `ok` nor `unchanged`.' },
};

/** Also what the rejection of a whole request adds to its problem. */
export const syncResponse = {
  results: { type: 'array', items: refer('StockResult'), description: 'In the order sent.' },
  ...counts,
  zeroed: { ...count, description: 'Products that a stocktake set to 0.' },
  position: { ...count, description: 'Of the catalogue, after it.' },
};

export const stockSchemas: Readonly<Record<string, Schema>> = {
  StockSync: {
    ...objectOf({
      changes: { ...changes.schema, items: refer('StockChange') },
      ...describeMembers(syncMembers),
    }, ['changes']),
    additionalProperties: false,
  },
  StockChange: {
    ...objectOf(describeMembers(STOCK_CHANGE_VALIDATORS), []),
    additionalProperties: false,
    allOf: [
      { oneOf: [{ required: ['sku'] }, { required: ['id'] }] },
      { oneOf: [{ required: ['set'] }, { required: ['adjust'] }] },
    ],
    description: 'A product, by one of `sku` and `id`; and one of `set` and `adjust`. One that is '
      + 'faulty is `invalid`, and the others are made.',
  },
  StockResult: objectOf(result, resultMembers),
  StockResults: objectOf(syncResponse, ['results', 'applied', 'failed', 'position']),
  StockLine: {
    oneOf: [
      objectOf({
        line: { ...positionSchema, description: 'Of what was sent.' }, ...result,
      }, ['line', ...resultMembers]),
      objectOf({ summary: refer('StockSummary') }),
      objectOf({ problem: objectOf({ summary: refer('StockSummary') }) }),
    ],
    description: 'Lines of changes in the order sent, and last a summary; or a problem, where it '
      + 'ended before its end.',
  },
  StockSummary: objectOf({
    ...counts, unchanged: count, position: { ...count, description: 'Of the catalogue, after it.' },
  }),
  StockLevel: objectOf({
    id: productIdSchema, sku, stock,
    position: { ...positionSchema, description: 'Of the last change of the product until then.' },
  }),
  StockPage: pageOf('stock', refer('StockLevel'), {
    position: { ...count, description: 'At which the catalogue stood like this.' },
  }),
};
