/** The JSON Schemas of stock: levels, and requests that change stock. */
import { STOCK_CHANGE_VALIDATORS, type StockStatus } from '../../domain/catalogue/stock-change.ts';
import { STOCK_SYNC_VALIDATORS } from '../../domain/catalogue/stock-sync.ts';
import { skuValidator } from '../../domain/catalogue/product-fields.ts';
import { stockQuantity } from '../../domain/catalogue/stock-quantity.ts';
import {
  count, describeMembers, describeStreamProblem, enumOf, nullable, objectOf, pageOf, refer,
} from '../description/schema.ts';
import type { Schema } from '../../domain/validation.ts';

const { changes, ...syncMembers } = STOCK_SYNC_VALIDATORS;
const stock = stockQuantity.schema;
export const positionSchema = { type: 'integer', minimum: 1 };
const sku = skuValidator.schema;
export const productIdSchema = { type: 'string', pattern: '^prd_[0-9a-z]{1,36}$' };

/** The id of an import record. */
export const importIdSchema = {
  type: 'string', pattern: '^imp_[0-9a-v]{22}$',
  description: 'The record of this import. Absent in a dry run.',
};

const statuses: Readonly<Record<StockStatus, string>> = {
  ok: 'the stock was changed',
  unchanged: 'the stock already had this value',
  not_found: 'you have no such product',
  conflict: 'the stock differs from `expect`',
  stale: '`sequence` is not above the last one of its source',
  insufficient: 'there is less stock than the change would remove',
  invalid: 'the change is invalid, for the reasons in `errors`',
};

const result = {
  sku: nullable(sku),
  id: { type: ['string', 'null'], description: 'As sent if there is no such product.' },
  status: { type: 'string', ...enumOf(statuses) },
  previous: nullable(stock),
  stock: { ...nullable(stock), description: 'The current stock.' },
  position: {
    ...nullable(positionSchema), description: 'Position of the product\'s last change.',
  },
  errors: { type: 'array', items: refer('Issue') },
};
const lineStatus = {
  type: 'string',
  ...enumOf({ ...statuses, zeroed: 'a stocktake set the stock to 0: no line names the product' }),
};
const resultMembers = ['sku', 'id', 'status', 'previous', 'stock', 'position'];

const counts = {
  applied: { ...count, description: 'Changes that are `ok`.' },
  failed: { ...count, description: 'Changes that are neither `ok` nor `unchanged`.' },
};

/** Also the members that the problem of a rejected request has. */
export const syncResponse = {
  results: { type: 'array', items: refer('StockResult'), description: 'In the order sent.' },
  ...counts,
  zeroed: { ...count, description: 'Products that a stocktake set to 0.' },
  position: { ...count, description: 'Position of the catalogue after the request.' },
  import: importIdSchema,
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
    description: 'Has either `sku` or `id`, and either `set` or `adjust`. An invalid change gets '
      + 'the status `invalid`; the others are applied.',
  },
  StockResult: objectOf(result, resultMembers),
  StockResults: objectOf(syncResponse, ['results', 'applied', 'failed', 'position']),
  StockLine: {
    oneOf: [
      objectOf({
        line: {
          ...nullable(positionSchema),
          description: 'Line of the request body; null for a product that a stocktake zeroed.',
        },
        ...result, status: lineStatus,
      }, ['line', ...resultMembers]),
      objectOf({ summary: refer('StockSummary') }),
      objectOf({ problem: refer('StockProblem') }),
    ],
    description: 'Lines for changes in the order sent, then a summary, or a problem if the request '
      + 'stopped early.',
  },
  StockSummary: objectOf({
    ...counts, unchanged: count, zeroed: syncResponse.zeroed, position: syncResponse.position,
    import: importIdSchema,
    ignored_columns: {
      type: 'array', items: { type: 'string' }, description: 'Columns of a CSV file.',
    },
  }, ['applied', 'failed', 'unchanged', 'position']),
  StockProblem: describeStreamProblem('StockSummary'),
  StockLevel: objectOf({
    id: productIdSchema, sku, stock,
    position: {
      ...positionSchema, description: 'Position of the product\'s last change until then.',
    },
  }),
  StockPage: pageOf('stock', refer('StockLevel'), {
    position: { ...count, description: 'Position of the catalogue that the page shows.' },
  }),
};
