/** The JSON Schemas of imports: a product as a file has it, and the lines of the answer. */
import type { ImportEffect } from '../../store/catalogue-store.ts';
import { count, enumOf, objectOf, refer } from '../../api/description/schema.ts';
import type { Schema } from '../../domain/validation.ts';
import { problem, product } from '../../api/description/schemas.ts';

type RowStatus = Exclude<ImportEffect, 'taken' | 'incomplete'> | 'failed';

const rowStatuses: Readonly<Record<RowStatus, string>> = {
  created: 'there was none with this SKU',
  updated: 'it was changed',
  unchanged: 'it was the same already',
  failed: 'nothing was done, for the reasons in `errors`',
};

export const importSchemas: Readonly<Record<string, Schema>> = {
  ImportProduct: {
    ...objectOf(product, ['sku']), additionalProperties: false,
    description: 'A product as it is sent, or as an export has it: `id`, `position` and the times '
      + 'are passed over, and a `currency` has to be yours. Members other than `sku` may be left '
      + 'out where the product exists: it keeps their values.',
  },
  ImportLine: {
    oneOf: [
      refer('ImportRow'),
      objectOf({ summary: refer('ImportSummary') }),
      objectOf({ problem: refer('ImportProblem') }),
    ],
    description: 'Lines of rows in the order of the file, and last a summary; or a problem, where '
      + 'the import ended before its end.',
  },
  ImportRow: objectOf({
    line: { type: 'integer', minimum: 1, description: 'Of the file: where the row begins.' },
    sku: { type: ['string', 'null'], description: 'As sent; null where there is none.' },
    status: { type: 'string', ...enumOf(rowStatuses) },
    errors: problem.errors,
  }, ['line', 'sku', 'status']),
  ImportSummary: objectOf({
    created: count, updated: count, unchanged: count, failed: count,
    skipped: { ...count, description: 'Rows that hold no product, such as those of images.' },
    position: { ...count, description: 'Of the catalogue, after the import.' },
    ignored_columns: { type: 'array', items: { type: 'string' } },
    advice: {
      type: 'string',
      description: 'For a person: the cause of most rejected rows, and what to do about it. Absent '
        + 'where they have no cause in common.',
    },
  }, ['created', 'updated', 'unchanged', 'failed', 'skipped', 'position']),
  ImportProblem: objectOf({
    ...problem,
    summary: { ...refer('ImportSummary'), description: 'What was done, and stays so.' },
  }, ['type', 'title', 'status', 'detail', 'summary']),
};
