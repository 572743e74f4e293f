/** The OpenAPI operations of stock, with their query parameters and JSON Schemas. */
import { IMPORT_BATCH_ROWS, IMPORT_DUPLICATES_LISTED_LIMIT } from '../../transfer/limits.ts';
import { STOCK_MEMBERS } from '../../transfer/stock-columns.ts';
import { STOCK_CHANGES_LIMIT } from '../../domain/limits.ts';
import { CSV_TYPE, NDJSON_TYPE } from '../media-types.ts';
import { csvParameters, workbookContent } from '../csv-parameters.ts';
import { DUPLICATE_LEVELS } from './duplicate-levels.ts';
import type { Operation, Tag } from '../description/operation.ts';
import {
  STOCK_CHANGE_VALIDATORS, stockReason, type StockStatus,
} from '../../domain/catalogue/stock-change.ts';
import {
  STOCK_SYNC_VALIDATORS, stockSource, ZERO_LIMIT_DEFAULT_PERCENT,
} from '../../domain/catalogue/stock-sync.ts';
import {
  closedObjectOf, count, describeList, describeMembers, describeStreamProblem, enumOf, jsonOf,
  linesOf, listNames, nullable, objectOf, pageOf, refer, respondJson, tableOf,
} from '../description/schema.ts';
import type { ParseResult, Schema } from '../../domain/validation.ts';
import { listParameters } from '../list.ts';
import {
  boolean, choice, dryRun, fileNameParameter, moment, text, withDefault,
} from '../parameters.ts';
import { importId, product } from '../description/examples.ts';
import { skuValidator } from '../../domain/catalogue/product-fields.ts';
import { stockQuantity } from '../../domain/catalogue/product-definition.ts';

const { zero_limit: zeroLimit } = STOCK_SYNC_VALIDATORS;

/** All but `dry_run` are for NDJSON and CSV: a JSON body has its own members. */
export const stockSyncParameters = {
  dry_run: dryRun,
  report: {
    ...withDefault(choice(['all', 'failed']), 'all'),
    description: 'NDJSON and CSV: which changes get a line in the response.', example: 'failed',
  },
  source: {
    ...stockSource, example: 'erp',
    description: 'NDJSON and CSV: the system that the numbers come from.',
  },
  reason: {
    ...stockReason, example: 'count',
    description: 'NDJSON and CSV: the reason for the changes that have none.',
  },
  complete: {
    ...boolean, example: true,
    description: 'NDJSON and CSV: a stocktake. At the end, every product in stock that no line '
      + 'names is set to 0, unless a line does not identify its product, or the body is cut off. '
      + 'Products that were created after its first batch was written are left alone.',
  },
  zero_limit: {
    schema: zeroLimit.schema, parse: parseZeroLimit, default: ZERO_LIMIT_DEFAULT_PERCENT,
    example: 20, description: `NDJSON and CSV: ${zeroLimit.description}`,
  },
  force: { ...boolean, description: 'NDJSON and CSV: ignore `zero_limit`.', example: true },
  map: {
    ...text, example: 'sku:EAN,set:Free stock',
    description: 'CSV: columns to read members from, instead of the recognised ones: '
      + `comma-separated \`member:column\`. Members are ${listNames(STOCK_MEMBERS)}; \`stock\` is `
      + 'another name of `set`. A column name may contain commas.',
  },
  duplicates: {
    ...withDefault(choice(DUPLICATE_LEVELS), 'reject'), example: 'sum',
    description: 'NDJSON and CSV: what a line with `set` does if an earlier one has a `set` of the '
      + 'same product, as in exports with a line for each warehouse. `reject` rejects it. '
      + '`reject_all` also rejects the earlier ones: a body of up to 1 GiB is received and checked '
      + 'before a line is applied. `sum` adds it to them, and so does `sum_all`, but to none of a '
      + 'product with a rejected line, for which it checks the whole body, too. `last` lets it '
      + 'replace them. Lines with `adjust`, `expect` or `sequence` are applied as they are.',
  },
  ...csvParameters,
  file_name: {
    ...fileNameParameter,
    description: 'NDJSON and CSV: the name of the file, for the record of the import.',
  },
} as const;

function parseZeroLimit(text: string): ParseResult<number> {
  return zeroLimit.parse(/^\d{1,3}(?:\.\d{1,9})?$/.test(text) ? Number(text) : NaN);
}

export const stockListParameters = {
  at: {
    ...moment, example: 12,
    description: 'The catalogue position, or the time, to show the stock at.',
  },
  ...listParameters,
} as const;

export const stockTag: Tag = {
  name: 'Stock',
  description: 'Synchronise stock in bulk, and read what is and what was in stock.',
};

const { sku, id, stock: previous } = product;
const change = { sku, adjust: -2, reason: 'sold' };
const result = { sku, id, status: 'ok', previous, stock: 38, position: 13 };
const summary = { applied: 1, unchanged: 0, failed: 0, position: 13, import: importId };

export const syncStockOperation: Operation = {
  id: 'syncStock',
  tag: stockTag,
  summary: 'Change the stock of many products',
  description: `JSON: up to ${STOCK_CHANGES_LIMIT} changes, applied together. A failed change does `
    + 'not stop the others, unless `atomic` is set. NDJSON and CSV: any number of changes, applied '
    + `in batches of up to ${IMPORT_BATCH_ROWS} as they arrive. Changes of the same product are `
    + 'applied in the order sent, and stock never goes below 0.',
  query: stockSyncParameters,
  requestHeaders: ['IdempotencyKey', 'ContentEncoding'],
  request: {
    ...jsonOf('StockSync', {
      changes: [change, { sku: 'CUP-1', set: 12, expect: 10 }], source: 'erp',
    }),
    [NDJSON_TYPE]: linesOf('StockChange', change),
    [CSV_TYPE]: tableOf({ sku, stock: 38 }, 'Separated by comma, semicolon, tab or |. The usual '
      + 'column names of tills and ERPs are recognised.'),
    ...workbookContent,
  },
  responses: {
    200: {
      ...respondJson('The results of the changes.', 'StockResults', {
        results: [result, {
          sku: 'CUP-1', id: null, status: 'not_found', previous: null, stock: null, position: null,
        }],
        applied: 1, failed: 1, position: 13, import: importId,
      }),
      alternatives: {
        [NDJSON_TYPE]: linesOf('StockLine', { line: 1, ...result }, { summary }),
      },
    },
  },
  problems: [409],
};

const level = { id, sku, stock: 38, position: 13 };

export const listStockOperation: Operation = {
  id: 'listStock',
  tag: stockTag,
  summary: 'Read the stock of all products, now or at an earlier time',
  description: 'With `at`, returns the stock at a position or a time, with the products and SKUs '
    + 'of that moment. Returns a page; with `Accept: application/x-ndjson` or `text/csv`, returns '
    + 'the stock of all products.',
  query: stockListParameters,
  responses: {
    200: describeList(
      jsonOf('StockPage', { stock: [level], position: 13, next_cursor: null }), 'StockLevel', level,
    ),
  },
  problems: [410],
};

const { changes, ...syncMembers } = STOCK_SYNC_VALIDATORS;
const stockSchema = stockQuantity.schema;
export const positionSchema = { type: 'integer', minimum: 1 };
const skuSchema = skuValidator.schema;
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
  ambiguous: 'several products have the barcode: `errors` names the first of them',
};

const resultSchemas = {
  sku: nullable(skuSchema),
  id: { type: ['string', 'null'], description: 'As sent if there is no such product.' },
  barcode: { type: 'string', description: 'As sent. Absent if the change has none.' },
  status: { type: 'string', ...enumOf(statuses) },
  previous: nullable(stockSchema),
  stock: { ...nullable(stockSchema), description: 'The current stock.' },
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
  StockSync: closedObjectOf({
    changes: { ...changes.schema, items: refer('StockChange') },
    ...describeMembers(syncMembers),
  }, ['changes']),
  StockChange: {
    ...closedObjectOf(describeMembers(STOCK_CHANGE_VALIDATORS), []),
    allOf: [
      { oneOf: [{ required: ['sku'] }, { required: ['id'] }, { required: ['barcode'] }] },
      { oneOf: [{ required: ['set'] }, { required: ['adjust'] }] },
    ],
    description: 'Has one of `sku`, `id` and `barcode`, and either `set` or `adjust`. An invalid '
      + 'change gets the status `invalid`; the others are applied.',
  },
  StockResult: objectOf(resultSchemas, resultMembers),
  StockResults: objectOf(syncResponse, ['results', 'applied', 'failed', 'position']),
  StockLine: {
    oneOf: [
      objectOf({
        line: {
          ...nullable(positionSchema),
          description: 'Line of the request body; null for a product that a stocktake zeroed.',
        },
        ...resultSchemas, status: lineStatus,
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
    duplicates: {
      ...count,
      description: 'Lines with the stock of a product that another line has. Absent if none.',
    },
    duplicate_rows: {
      type: 'array', maxItems: IMPORT_DUPLICATES_LISTED_LIMIT,
      items: objectOf({
        line: positionSchema, sku: skuSchema,
        previous_line: { ...positionSchema, description: 'The previous line with this product; for '
            + 'the first one, which `reject_all` rejects, the last line.' },
      }, ['line', 'sku', 'previous_line']),
      description: `The first ${IMPORT_DUPLICATES_LISTED_LIMIT} of them.`,
    },
    ignored_columns: {
      type: 'array', items: { type: 'string' }, description: 'Columns of a CSV file.',
    },
    unknown_ids: {
      ...count, description: 'Rows of a CSV file with a SKU, and an `id` that none of your '
        + 'products has: it is ignored. Absent if there are none.',
    },
    notes: {
      type: 'array', items: { type: 'string' },
      description: 'For a person: why nothing was applied, and what else the counts do not say. '
        + 'Absent if there is nothing to say.',
    },
  }, ['applied', 'failed', 'unchanged', 'position']),
  StockProblem: describeStreamProblem('StockSummary'),
  StockLevel: objectOf({
    id: productIdSchema, sku: skuSchema, stock: stockSchema,
    position: {
      ...positionSchema, description: 'Position of the product\'s last change until then.',
    },
  }),
  StockPage: pageOf('stock', refer('StockLevel'), {
    position: { ...count, description: 'Position of the catalogue that the page shows.' },
  }),
};
