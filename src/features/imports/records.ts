/**
 * Records of imports, stock syncs, stocktakes, reverts and bulk edits, newest first: the handlers,
 * and the OpenAPI operations with their parameters and schemas.
 */
import { pageParameters, replyPage, splitPage } from '../../api/list.ts';
import { choice, parseParameters } from '../../api/parameters.ts';
import type { ApiRequest, Services } from '../../api/route.ts';
import {
  fileName, formatImport, IMPORT_KINDS, type ImportKind,
} from '../../domain/catalogue/import.ts';
import { AppError } from '../../domain/error.ts';
import { formatImportId, type ImportId, parseImportId } from '../../domain/id.ts';
import { type Reply, replyJson } from '../../http/response/reply.ts';
import { importId } from '../../api/description/examples.ts';
import type { Operation, PathParameter } from '../../api/description/operation.ts';
import {
  count, enumOf, nullable, objectOf, pageOf, refer, respondJson, time,
} from '../../api/description/schema.ts';
import { importIdSchema, positionSchema } from '../../api/stock/stock-operations.ts';
import { actorName } from '../../domain/access/caller.ts';
import { stockSource } from '../../domain/catalogue/stock-sync.ts';
import type { Schema } from '../../domain/validation.ts';
import { importTag } from './import.ts';

export const IMPORTS = '/api/v1/imports';

/** GET /api/v1/imports: 200, 400 */
export async function listImports(request: ApiRequest, services: Services): Promise<Reply> {
  const { store, cursors } = services;
  const { sellerId } = request.caller;
  const { kind, limit, cursor } = parseParameters(recordParameters, request.query, request.caller);
  const scope = `imports ${sellerId} ${kind ?? ''}`;
  const before = cursors.parse<ImportId>(scope, cursor);
  const records = await store.listImports(sellerId, { before, kind, limit: limit + 1 });
  const { page, last } = splitPage(records, limit);
  return replyPage(request, {
    path: IMPORTS, limit, headers: { 'cache-control': 'no-store' },
    members: `"imports":[${page.map(formatImport).join(',')}]`,
    nextCursor: cursors.format(scope, last?.id),
  });
}

/** GET /api/v1/imports/{id}: 200, 404, also if the record was removed with the history */
export async function readImport(request: ApiRequest, { store }: Services): Promise<Reply> {
  const { caller: { sellerId }, parameters } = request;
  const id = parseImportId(sellerId, parameters['import_id'] ?? '');
  const record = id === undefined ? undefined : await store.findImport(sellerId, id);
  if (record) return replyJson(formatImport(record));
  const why = 'Its record may have been removed with old history.';
  throw new AppError('not_found', `You have no import with this id. ${why}`);
}

const kinds: Readonly<Record<ImportKind, string>> = {
  products: 'an import of products',
  stock: 'a stock sync',
  stocktake: 'a stock sync that set the products it did not name to 0',
  revert: 'a revert of changes',
  bulk: 'an edit of many products in the portal',
};

const recordParameters = {
  kind: {
    ...choice(IMPORT_KINDS), description: 'Only imports of this kind.', example: 'stock',
  },
  ...pageParameters,
} as const;

const recordExample = {
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
      ...respondJson('A page.', 'ImportRecordPage', {
        imports: [recordExample], next_cursor: null,
      }),
      headers: ['Link'],
    },
  },
};

export const readImportOperation: Operation = {
  id: 'readImport',
  tag: importTag,
  summary: 'Read an import',
  description: 'Returns who imported what from where, and what it changed. List its changes with '
    + '`GET /api/v1/changes?import=` or `GET /api/v1/stock/movements?import=`.',
  responses: { 200: respondJson('The import.', 'ImportRecord', recordExample) },
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
