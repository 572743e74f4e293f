/** How pages show an import record: its name, its link, its status and what it did. */
import {
  type BulkMode, type ImportKind, type ImportRecord,
} from '../../../domain/catalogue/import.ts';
import { AppError } from '../../../domain/error.ts';
import { formatImportId, type ImportId, parseImportId } from '../../../domain/id.ts';
import { type Choice, postForm } from '../forms/fields.ts';
import { type Content, html, type Html, shorten } from '../html/html.ts';
import { SOURCE_BYTES } from '../limits.ts';
import type { PageRequest, Portal } from '../route.ts';

const FILE_NAME_BYTES = 80;

const KIND_LABELS: Readonly<Record<ImportKind, string>> = {
  products: 'Import', stock: 'Stock sync', stocktake: 'Stocktake', revert: 'Revert',
  bulk: 'Bulk edit',
};

export const KIND_CHOICES: readonly Choice[] =
  Object.entries(KIND_LABELS).map(([value, label]) => ({ value, label }));

const BULK_LABELS: Readonly<Record<BulkMode, string>> = {
  edit: 'Bulk edit of stock and price', category: 'Bulk edit of the category',
  archive: 'Bulk archiving', restore: 'Bulk restoration', delete: 'Bulk deletion',
};

/** Such as `Import shop.csv`, `Stock sync from till 2` and `Bulk deletion`. */
export function nameOf({ kind, mode, fileName, source }: ImportRecord): string {
  // The cast: bulk edits have such a mode.
  if (kind === 'bulk') return BULK_LABELS[mode as BulkMode];
  const label = KIND_LABELS[kind];
  if (fileName !== undefined) return `${label} ${shorten(fileName, FILE_NAME_BYTES)}`;
  return source === undefined ? label : `${label} from ${shorten(source, SOURCE_BYTES)}`;
}

/** The path of its page. */
export function pathOf({ sellerId, id }: Pick<ImportRecord, 'sellerId' | 'id'>): string {
  return `/imports/${formatImportId(sellerId, id)}`;
}

/** The query of the changes page that selects its changes. */
export function changesOf({ sellerId, id }: ImportRecord): URLSearchParams {
  return new URLSearchParams({ import: formatImportId(sellerId, id) });
}

export function renderLink({ link }: Pick<PageRequest, 'link'>, record: ImportRecord): Html {
  return html`<a href="${link(pathOf(record))}"><bdi>${nameOf(record)}</bdi></a>`;
}

/** Leads to the preview of a revert. */
export function renderRevertButton(
  request: PageRequest, record: Pick<ImportRecord, 'sellerId' | 'id' | 'kind'>,
): Content {
  if (!request.may('editor')) return undefined;
  const label = record.kind === 'revert' ? 'Undo this revert'
    : record.kind === 'bulk' ? 'Revert this bulk edit' : 'Revert this import';
  return postForm(request, request.link(`${pathOf(record)}/revert`),
    html`<button>${label}</button>`, '');
}

export function renderStatus({ finishedAt }: ImportRecord): Html {
  return finishedAt === undefined ? html`<span class="tag low">unfinished</span>`
    : html`<span class="tag good">complete</span>`;
}

/** @throws AppError `not_found` */
export async function getRecord(
  { account: { sellerId }, parameters }: PageRequest, { store }: Portal,
): Promise<ImportRecord> {
  const id = parseImportId(sellerId, parameters['import_id'] ?? '');
  const record = id === undefined ? undefined : await store.findImport(sellerId, id);
  if (record) return record;
  const detail = 'There is no record of this import. Records are removed with old history.';
  throw new AppError('not_found', detail);
}

/** By id; records that were removed with the history are missing. */
export async function findRecords(
  { account: { sellerId } }: PageRequest, { store }: Portal, ids: readonly ImportId[],
): Promise<ReadonlyMap<ImportId, ImportRecord>> {
  const records = await Promise.all([...new Set(ids)].map((id) => store.findImport(sellerId, id)));
  return new Map(records.flatMap((record) => (record ? [[record.id, record] as const] : [])));
}
