/** Records of imports, stock syncs, stocktakes, reverts and bulk edits, newest first. */
import { replyPage, splitPage } from '../../api/list.ts';
import { JSON_TYPE } from '../../api/media-types.ts';
import { parseParameters } from '../../api/parameters.ts';
import type { ApiRequest, Services } from '../../api/route.ts';
import { formatImport, type ImportRecord } from '../../domain/catalogue/import.ts';
import { AppError } from '../../domain/error.ts';
import { type ImportId, parseImportId, type SellerId } from '../../domain/id.ts';
import type { Reply } from '../../http/response/reply.ts';
import type { ImportStore } from '../../store/import-store.ts';
import { recordParameters } from './record-operations.ts';

export const IMPORTS = '/api/v1/imports';

const HEADERS = { 'cache-control': 'no-store' };

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
    path: IMPORTS, limit, headers: HEADERS,
    members: `"imports":[${page.map(formatImport).join(',')}]`,
    nextCursor: cursors.format(scope, last?.id),
  });
}

/** GET /api/v1/imports/{id}: 200, 404 */
export async function readImport(request: ApiRequest, { store }: Services): Promise<Reply> {
  const { caller, parameters } = request;
  const record = await getImport(store, caller.sellerId, parameters['import_id'] ?? '');
  return {
    status: 200, headers: { ...HEADERS, 'content-type': JSON_TYPE }, body: formatImport(record),
  };
}

/** @throws AppError `not_found`, also if the record was removed with the history */
async function getImport(
  store: ImportStore, sellerId: SellerId, text: string,
): Promise<ImportRecord> {
  const id = parseImportId(sellerId, text);
  const record = id === undefined ? undefined : await store.findImport(sellerId, id);
  if (record) return record;
  const why = 'Its record may have been removed with old history.';
  throw new AppError('not_found', `You have no import with this id. ${why}`);
}
