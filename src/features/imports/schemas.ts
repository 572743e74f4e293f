/** The JSON Schemas of imports: a product in a file, and the lines of the response. */
import type { ImportEffect } from '../../store/catalogue-store.ts';
import {
  count, describeStreamProblem, enumOf, objectOf, problem, refer,
} from '../../api/description/schema.ts';
import type { Schema } from '../../domain/validation.ts';
import { product, inputMembers } from '../../api/description/schemas.ts';
import { importIdSchema } from '../../api/stock/stock-schemas.ts';
import { IMPORT_DUPLICATES_LISTED_LIMIT } from '../../transfer/limits.ts';

type RowStatus = Extract<ImportEffect, 'created' | 'updated' | 'unchanged'> | 'failed';

const rowStatuses: Readonly<Record<RowStatus, string>> = {
  created: 'the SKU was new',
  updated: 'the product was changed',
  unchanged: 'the product already had these values',
  failed: 'the row was rejected for the reasons in `errors`',
};

const line = { type: 'integer', minimum: 1 } as const;

const duplicateRow = {
  line, sku: { type: 'string' },
  overrides: {
    ...line,
    description: 'Line of the file\'s previous row with the same SKU. The values of this row win.',
  },
};

export const importSchemas: Readonly<Record<string, Schema>> = {
  ImportProduct: {
    ...objectOf({ ...product, ...inputMembers }, ['sku']), additionalProperties: false,
    description: 'A product as sent or exported. `id`, `position` and the times are ignored; a '
      + '`currency` must be yours. An existing product keeps the values of omitted members; `sku` '
      + 'is always required.',
  },
  ImportLine: {
    oneOf: [
      refer('ImportRow'),
      objectOf({ summary: refer('ImportSummary') }),
      objectOf({ problem: refer('ImportProblem') }),
    ],
    description: 'Lines for rows in the order of the file, then a summary, or a problem if the '
      + 'import stopped early.',
  },
  ImportRow: objectOf({
    line: { ...line, description: 'Line of the file where the row begins.' },
    sku: { type: ['string', 'null'], description: 'As sent; null if there is none.' },
    status: { type: 'string', ...enumOf(rowStatuses) },
    overrides: duplicateRow.overrides,
    errors: problem.errors,
  }, ['line', 'sku', 'status']),
  ImportSummary: objectOf({
    created: count, updated: count, unchanged: count, failed: count,
    skipped: { ...count, description: 'Rows without a product, such as image rows.' },
    duplicates: {
      ...count, description: 'Rows that override an earlier row with the same SKU. Absent if none.',
    },
    position: { ...count, description: 'Position of the catalogue after the import.' },
    import: importIdSchema,
    duplicate_rows: {
      type: 'array', maxItems: IMPORT_DUPLICATES_LISTED_LIMIT,
      items: objectOf(duplicateRow, ['line', 'sku', 'overrides']),
      description: `The first ${IMPORT_DUPLICATES_LISTED_LIMIT} of them.`,
    },
    ignored_columns: { type: 'array', items: { type: 'string' } },
    advice: {
      type: 'string',
      description: 'For a person: the cause of most rejected rows, and what to do about it. Absent '
        + 'if they have no common cause.',
    },
  }, ['created', 'updated', 'unchanged', 'failed', 'skipped', 'position']),
  ImportProblem: describeStreamProblem('ImportSummary'),
};
