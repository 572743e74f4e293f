/** The OpenAPI operation and the schemas of reverts. */
import { JSON_TYPE, NDJSON_TYPE } from '../../api/media-types.ts';
import { importId, product } from '../../api/description/examples.ts';
import type { Operation } from '../../api/description/operation.ts';
import {
  count, describeMembers, describeStreamProblem, enumOf, linesOf, nullable, objectOf, refer,
} from '../../api/description/schema.ts';
import { dryRun } from '../../api/parameters.ts';
import { importIdSchema, positionSchema, productIdSchema } from '../../api/stock/stock-schemas.ts';
import { skuValidator } from '../../domain/catalogue/product-fields.ts';
import type { Schema } from '../../domain/validation.ts';
import type { RevertConflict, RevertStatus } from '../../store/revert-store.ts';
import { importTag } from './operation.ts';
import { REVERT_VALIDATORS } from './revert-request.ts';

export const revertParameters = {
  dry_run: { ...dryRun, description: 'The same as the member of the body.' },
  force: { ...dryRun, description: 'The same as the member of the body.' },
} as const;

const { sku, id } = product;
const restored = {
  sku, id, status: 'restored', position: 14,
  changes: { price: { from: 99, to: 12 }, stock: { from: 0, to: 40 } },
};
const summary = {
  restored: 1, deleted: 0, recreated: 0, unchanged: 0, conflicts: 0, position: 14, import: importId,
};

export const revertOperation: Operation = {
  id: 'revertChanges',
  tag: importTag,
  summary: 'Revert an import, or a range of changes',
  description: 'Restores every product that the changes touched to its state before them: products '
    + 'that they created are deleted, and products that they deleted return with their id. A '
    + 'product that something else changed since is left alone, as a conflict, unless `force` is '
    + 'set. The revert is recorded as an import of the kind `revert`, which can be reverted, too. '
    + 'If it stops early, restored products stay restored, and sending the request again does the '
    + 'rest.',
  query: revertParameters,
  requestHeaders: ['IdempotencyKey'],
  request: {
    [JSON_TYPE]: { schema: refer('RevertRequest'), example: { import: importId, dry_run: true } },
  },
  responses: {
    200: {
      description: 'The results of the products.',
      content: { [NDJSON_TYPE]: linesOf('RevertLine', restored, { summary }) },
    },
  },
  problems: [404, 410],
};

const statuses: Readonly<Record<RevertStatus, string>> = {
  restored: 'the product has its earlier values again',
  deleted: 'the changes had created the product',
  recreated: 'the product had been deleted, and exists again',
  unchanged: 'there was nothing to restore',
  conflict: 'the product was left alone, for the reason in `conflict`',
};

const conflicts: Readonly<Record<RevertConflict, string>> = {
  moved: 'only its stock has moved since, as by sales',
  changed: 'something else changed it since',
  deleted: 'it was deleted since',
  sku_taken: 'another product has its SKU now; also with `force`',
  history_pruned: 'its earlier state was removed with the history; also with `force`',
};

const value = { type: ['string', 'number', 'null'] };

export const revertSchemas: Readonly<Record<string, Schema>> = {
  RevertRequest: {
    ...objectOf(describeMembers(REVERT_VALIDATORS), []), additionalProperties: false,
    description: 'Either `import`, or `after` and `up_to`.',
  },
  RevertLine: {
    oneOf: [
      refer('RevertedProduct'),
      objectOf({ summary: refer('RevertSummary') }),
      objectOf({ problem: refer('RevertProblem') }),
    ],
    description: 'A line for each product, then a summary, or a problem if the revert stopped '
      + 'early.',
  },
  RevertedProduct: objectOf({
    sku: nullable({ ...skuValidator.schema, description: 'After the revert.' }),
    id: productIdSchema,
    status: { type: 'string', ...enumOf(statuses) },
    position: {
      ...nullable(positionSchema),
      description: 'Of the product\'s last change; in a dry run, of its last one until now.',
    },
    conflict: { type: 'string', ...enumOf(conflicts) },
    detail: { type: 'string', description: 'For a person: the conflict, and what to do.' },
    changes: {
      type: 'object', additionalProperties: objectOf({ from: value, to: value }),
      description: 'The members of a restored product that change. Absent in a retry.',
    },
  }, ['sku', 'id', 'status', 'position']),
  RevertSummary: objectOf({
    restored: count, deleted: count, recreated: count, unchanged: count,
    conflicts: { ...count, description: 'Products that were left alone.' },
    position: { ...count, description: 'Position of the catalogue after the revert.' },
    import: { ...importIdSchema, description: 'The record of this revert. Absent in a dry run.' },
    advice: { type: 'string', description: 'For a person: what to do about the conflicts.' },
  }, ['restored', 'deleted', 'recreated', 'unchanged', 'conflicts', 'position']),
  RevertProblem: describeStreamProblem('RevertSummary'),
};
