/** The OpenAPI operations, parameters and schemas of import records. */
import { importId } from '../../api/description/examples.ts';
import type { Operation, PathParameter } from '../../api/description/operation.ts';
import {
  count, enumOf, nullable, objectOf, pageOf, refer, time,
} from '../../api/description/schema.ts';
import { pageParameters } from '../../api/list.ts';
import { JSON_TYPE } from '../../api/media-types.ts';
import { choice } from '../../api/parameters.ts';
import { importIdSchema, positionSchema } from '../../api/stock/stock-schemas.ts';
import { actorName } from '../../domain/access/caller.ts';
import { fileName, IMPORT_KINDS, type ImportKind } from '../../domain/catalogue/import.ts';
import { stockSource } from '../../domain/catalogue/stock-sync.ts';
import { formatImportId } from '../../domain/id.ts';
import type { Schema } from '../../domain/validation.ts';
import { importTag } from './operation.ts';

const kinds: Readonly<Record<ImportKind, string>> = {
  products: 'an import of products',
  stock: 'a stock sync',
  stocktake: 'a stock sync that set the products it did not name to 0',
  revert: 'a revert of changes',
  bulk: 'an edit of many products in the portal',
};

export const recordParameters = {
  kind: {
    ...choice(IMPORT_KINDS), description: 'Only imports of this kind.', example: 'stock',
  },
  ...pageParameters,
} as const;

const example = {
  id: importId, kind: 'products',
  started_at: '2026-11-20T10:48:13.257Z', finished_at: '2026-11-20T10:48:14.002Z',
  key_id: 'key_1k7s94cm8001k7s94bi600', address: '192.0.2.10', file_name: 'products.csv',
  mode: 'upsert', source: null,
  counts: { created: 2, updated: 1, unchanged: 0, failed: 1, skipped: 0 },
  first_position: 10, last_position: 12,
};

export const listImportsOperation: Operation = {
  id: 'listImports',
  tag: importTag,
  summary: 'List imports',
  description: 'Returns the record of each import, stock sync, stocktake, revert and bulk edit, '
    + 'newest first. Dry runs have none. Records are removed with the history.',
  query: recordParameters,
  responses: {
    200: {
      description: 'A page.',
      headers: ['Link'],
      content: {
        [JSON_TYPE]: {
          schema: refer('ImportRecordPage'), example: { imports: [example], next_cursor: null },
        },
      },
    },
  },
};

export const readImportOperation: Operation = {
  id: 'readImport',
  tag: importTag,
  summary: 'Read an import',
  description: 'Returns who imported what from where, and what it changed. List its changes with '
    + '`GET /api/v1/changes?import=` or `GET /api/v1/stock/movements?import=`.',
  responses: {
    200: {
      description: 'The import.',
      content: { [JSON_TYPE]: { schema: refer('ImportRecord'), example } },
    },
  },
};

export const importPathParameter: PathParameter = {
  name: 'import_id', description: 'Id of the import.', example: importId,
  schema: { type: 'string' },
  async findSample(store, sellerId) {
    const [record] = await store.listImports(sellerId, { before: undefined, limit: 1 });
    return record && formatImportId(sellerId, record.id);
  },
};

const required = {
  id: { ...importIdSchema, description: 'Its changes have it as `import`.' },
  kind: { type: 'string', ...enumOf(kinds) },
  started_at: time,
  finished_at: {
    ...nullable(time),
    description: 'Null while it runs, and if it stopped before its end. What it changed stays.',
  },
  key_id: { type: 'string', description: 'The API key that imported.' },
  address: nullable({ type: 'string', description: 'The network address of the client.' }),
  file_name: nullable({ ...fileName.schema, description: 'As the client gave it.' }),
  mode: nullable({
    type: 'string', description: 'Of an import of products: `upsert`, `update` or `create`; of a '
      + 'bulk edit: `edit` (stock and price), `category`, `archive`, `restore` or `delete`.',
  }),
  source: nullable({
    ...stockSource.schema, description: 'The system that the stock numbers come from.',
  }),
  counts: {
    type: 'object', additionalProperties: count,
    description: 'How many rows had each outcome, as in the summary of the import. Exact at any '
      + 'time, also if it stopped before its end.',
  },
  first_position: nullable({
    ...positionSchema, description: 'Of its first change; null if it changed nothing.',
  }),
  last_position: nullable({
    ...positionSchema, description: 'Of its last change. Changes of others may be in between.',
  }),
};

const reverts = {
  ...objectOf({
    import: { ...importIdSchema, description: 'The import that was reverted.' },
    after: { ...count, description: 'The reverted changes are after this position, ...' },
    up_to: { ...count, description: '... up to this one.' },
    key_id: { type: 'string', description: 'Only changes that this key made.' },
    source: { ...stockSource.schema, description: 'Only changes from this system.' },
  }, ['after', 'up_to']),
  description: 'The changes that a revert reverted. Absent for other kinds.',
};

export const recordSchemas: Readonly<Record<string, Schema>> = {
  ImportRecord: objectOf({
    ...required,
    actor: {
      ...actorName.schema,
      description: 'Who imported without an API key: an account of the portal, or the actor '
        + 'that the embedding program named. Absent for keys.',
    },
    reverts,
  }, Object.keys(required)),
  ImportRecordPage: pageOf('imports', refer('ImportRecord')),
};
