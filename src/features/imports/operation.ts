/** What the OpenAPI document says of the import. */
import { DEFAULTABLE, MEMBERS } from '../../transfer/columns.ts';
import { IMPORT_BATCH_ROWS } from '../../transfer/limits.ts';
import { missingMember } from '../../transfer/import-row.ts';
import { CSV_TYPE, NDJSON_TYPE } from '../../api/media-types.ts';
import type { Operation, Parameter } from '../../api/description/operation.ts';
import { dryRun } from '../../api/description/parameters.ts';
import { linesOf } from '../../api/description/schema.ts';
import { newProduct, newProductTable } from '../../api/description/examples.ts';

const failedRow = {
  line: 4, sku: 'T-3', status: 'failed',
  errors: [missingMember('stock', 'blank')],
};
const summary = {
  created: 2, updated: 1, unchanged: 0, failed: 1, skipped: 0, position: 12,
  advice: '1 rejected row is a new product without a value for stock. Send the file again with '
    + 'default=stock:0.',
};

export const importProductsOperation: Operation = {
  id: 'importProducts',
  summary: 'Import a file of products',
  description: 'Takes a file of any length and answers while it reads. Rows are written in '
    + `batches of up to ${IMPORT_BATCH_ROWS}, and a row that fails leaves the others as they are. `
    + 'Where the import breaks off, what was written stays, and the same file can be sent again. '
    + 'A member that a row leaves out or has blank keeps its value in an existing product. '
    + 'Columns of exports of Shopify, WooCommerce and Magento are recognised. A fault of the '
    + 'whole file is a problem with its status when it shows at once, and the last line of the '
    + 'answer when it shows later.',
  requestHeaders: ['IdempotencyKey', 'ContentEncoding'],
  request: {
    [NDJSON_TYPE]: {
      schema: linesOf('ImportProduct'), example: `${JSON.stringify(newProduct)}\n`,
    },
    [CSV_TYPE]: {
      schema: {
        type: 'string', contentMediaType: CSV_TYPE,
        description: 'RFC 4180, in UTF-8, with a header. Comma, semicolon or tab.',
      },
      example: newProductTable,
    },
  },
  answers: {
    200: {
      description: 'What became of the rows.',
      headers: ['IdempotentReplay'],
      content: {
        [NDJSON_TYPE]: {
          schema: linesOf('ImportLine'),
          example: `${JSON.stringify(failedRow)}\n${JSON.stringify({ summary })}\n`,
        },
      },
    },
  },
};

export const importParameters: readonly Parameter[] = [
  {
    name: 'mode', example: 'create',
    description: '`upsert` creates products, and changes those whose SKU exists to what their rows '
      + 'say: members that are missing or blank keep their value. With `create`, rows whose SKU '
      + 'exists fail.',
    schema: { type: 'string', enum: ['upsert', 'create'], default: 'upsert' },
  },
  dryRun,
  {
    name: 'report', description: 'The rows that get a line in the answer.', example: 'all',
    schema: { type: 'string', enum: ['failed', 'all'], default: 'failed' },
  },
  {
    name: 'map', example: 'name:Title,stock:On hand',
    description: 'Columns of a CSV file to take members from, instead of those that are '
      + `recognised: \`member:column\`, with commas between. Members are ${listNames(MEMBERS)}; `
      + 'the name of a column may have commas.',
    schema: { type: 'string', minLength: 1 },
  },
  {
    name: 'default', example: 'stock:0,category:Misc',
    description: 'What new products get where a cell of a CSV file is blank, or a column is '
      + 'missing: `member:text`, with commas between. A default never changes a product that '
      + `exists. Members are ${listNames(DEFAULTABLE)}; numbers are written as in the file.`,
    schema: { type: 'string', minLength: 1 },
  },
];

function listNames(members: readonly string[]): string {
  const names = members.map((member) => `\`${member}\``);
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
