/** The OpenAPI operation of the import. */
import { DEFAULTABLE, MEMBERS } from '../../transfer/columns.ts';
import { IMPORT_BATCH_ROWS } from '../../transfer/limits.ts';
import { missingMember } from '../../transfer/import-row.ts';
import { CSV_TYPE, NDJSON_TYPE } from '../../api/media-types.ts';
import type { Operation, Tag } from '../../api/description/operation.ts';
import { choice, dryRun, fileNameParameter, text, withDefault } from '../../api/parameters.ts';
import { linesOf, listNames, tableOf } from '../../api/description/schema.ts';
import { importId, newProduct } from '../../api/description/examples.ts';

const failedRow = {
  line: 4, sku: 'T-3', status: 'failed',
  errors: [missingMember('stock', 'blank')],
};
const summary = {
  created: 2, updated: 1, unchanged: 0, failed: 1, skipped: 0, position: 12, import: importId,
  advice: '1 rejected row is a new product without a value for stock. Send the file again with '
    + 'default=stock:0.',
};

export const importParameters = {
  mode: {
    ...withDefault(choice(['upsert', 'update', 'create']), 'upsert'), example: 'create',
    description: '`upsert` creates products and updates those whose SKU exists; members that are '
      + 'missing or blank keep their value. `update` does the same to existing products, creates '
      + 'none, and rejects rows whose SKU is new. `create` rejects rows whose SKU exists.',
  },
  dry_run: dryRun,
  report: {
    ...withDefault(choice(['failed', 'all']), 'failed'),
    description: 'Rows that get a line in the response.', example: 'all',
  },
  map: {
    ...text, example: 'name:Title,stock:On hand',
    description: 'Columns of a CSV file to read members from, instead of the recognised ones: '
      + `comma-separated \`member:column\`. Members are ${listNames(MEMBERS)}. A `
      + 'column name may contain commas.',
  },
  file_name: fileNameParameter,
  default: {
    ...text, example: 'stock:0,category:Misc',
    description: 'Values of new products for blank cells and missing columns of a CSV file: '
      + 'comma-separated `member:text`. A default never changes an existing product, so '
      + '`mode=update` rejects this parameter. Members are '
      + `${listNames(DEFAULTABLE)}; numbers are written as in the file.`,
  },
} as const;

export const importTag: Tag = {
  name: 'Imports',
  description: 'Create and update products from CSV and NDJSON files; see what each import did, '
    + 'and revert it.',
};

export const importProductsOperation: Operation = {
  id: 'importProducts',
  tag: importTag,
  summary: 'Import a file of products',
  description: 'Accepts a file of any length and responds while reading it. Rows are written in '
    + `batches of up to ${IMPORT_BATCH_ROWS}; a rejected row does not affect the others. If the `
    + 'import stops early, rows already written stay, and the same file can be sent again. In an '
    + 'existing product, members that a row omits or leaves blank keep their values, and pairs of '
    + '`metadata` are merged; in CSV they are columns such as `metadata.erp_id`, or a JSON object '
    + 'in a column `metadata`. Columns of Shopify, WooCommerce and Magento exports are recognised. '
    + 'An error in the file as a whole is a problem response if it is found immediately, and '
    + 'otherwise the last line of the response.',
  query: importParameters,
  requestHeaders: ['IdempotencyKey', 'ContentEncoding'],
  request: {
    [NDJSON_TYPE]: linesOf('ImportProduct', newProduct),
    [CSV_TYPE]: tableOf(newProduct, 'Separated by comma, semicolon or tab.'),
  },
  responses: {
    200: {
      description: 'The results of the rows.',
      content: {
        [NDJSON_TYPE]: linesOf('ImportLine', failedRow, { summary }),
      },
    },
  },
};
