/**
 * The revert of an import, and its dry run, which keeps the first products of each kind for the
 * preview.
 */
import { countChanges, type ImportRecord } from '../../../../domain/catalogue/import.ts';
import type { SellerId } from '../../../../domain/id.ts';
import type {
  RevertedProduct, RevertSelection, RevertStatus,
} from '../../../../store/revert-store.ts';
import type { Store } from '../../../../store/store.ts';
import { runRevert } from '../../../imports/revert.ts';
import { readKeyNames } from '../../keys/key-names.ts';
import { PREVIEW_ROWS_SHOWN } from '../../limits.ts';
import { nameOf, pathOf } from '../../records/import-record.ts';
import { type Progress, startProgress, type TaskRun } from '../job-kind.ts';

/** A product that would be left alone. */
interface Conflict extends RevertedProduct {
  /** Who changed it since, and when; undefined if that is not why. */
  readonly since: { readonly by: string; readonly at: number } | undefined;
}

/** The first products of each kind. */
interface RevertPreview {
  readonly changes: readonly RevertedProduct[];
  readonly conflicts: readonly Conflict[];
}

/** What is reverted: an import, or the changes of a key. Plain data. */
export interface RevertSubject {
  readonly selection: RevertSelection;
  /** Such as `Import shop.csv`. */
  readonly name: string;
  /** The path of its page. */
  readonly path: string;
  /** How many changes it made, if known; else 0. */
  readonly total: number;
}

export function subjectOf(record: ImportRecord): RevertSubject {
  return {
    selection: { importId: record.id }, name: nameOf(record), path: pathOf(record),
    total: countChanges(record),
  };
}

/** The revert of an import or of changes, as plain data. */
export interface RevertTask {
  readonly kind: 'revert';
  readonly subject: RevertSubject;
  /** Whether products that changed since are reverted, too. */
  readonly isForced: boolean;
  readonly progress: Progress<Record<RevertStatus, number>>;
  /** Undefined until the dry run has reached its end. */
  preview: RevertPreview | undefined;
  /** Products to revert: estimated from the record, then counted by the dry run. */
  total: number;
}

/** Whether the dry run has a result, and the revert would change something. */
export function canStartRevert({ preview, progress }: RevertTask): boolean {
  const { restored, deleted, recreated } = progress.counts;
  return preview !== undefined && restored + deleted + recreated > 0;
}

/** A task that was not previewed. */
export function restartRevert(
  { subject, isForced }: Pick<RevertTask, 'subject' | 'isForced'>,
): RevertTask {
  const { total } = subject;
  const progress = startProgress({
    restored: 0, deleted: 0, recreated: 0, unchanged: 0, conflict: 0,
  });
  return { kind: 'revert', subject, isForced, progress, preview: undefined, total };
}

/** Sets `preview`, unless the changes cannot be reverted. */
export async function previewRevert(
  task: RevertTask, run: TaskRun, signal: AbortSignal,
): Promise<void> {
  const { importer: { sellerId }, store } = run;
  const changes: RevertedProduct[] = [];
  const conflicts: Conflict[] = [];
  for await (const products of revert(task, run, true)) {
    for (const product of products) {
      const { status, position } = product;
      if (status === 'conflict' && conflicts.length < PREVIEW_ROWS_SHOWN) {
        const since = CHANGED_SINCE.has(product.conflict)
          ? await findAuthor(store, sellerId, position) : undefined;
        conflicts.push({ ...product, since });
      } else if (!KEPT.has(status) && changes.length < PREVIEW_ROWS_SHOWN) {
        changes.push(product);
      }
    }
    if (signal.aborted) return;
  }
  task.total = task.progress.processed;
  task.preview = { changes, conflicts };
}

/** Returns whether it reached the end. */
export async function writeRevert(
  task: RevertTask, run: TaskRun, signal: AbortSignal,
): Promise<boolean> {
  for await (const _ of revert(task, run, false)) if (signal.aborted) return false;
  return true;
}

async function* revert(
  { subject: { selection }, progress, isForced }: RevertTask, { importer, store }: TaskRun,
  isDryRun: boolean,
): AsyncGenerator<readonly RevertedProduct[], void, void> {
  const batches = runRevert({ store }, importer, { selection, isForced, isDryRun });
  for await (const { rows, written } of batches) {
    progress.importId = written?.importId;
    for (const { status } of rows) progress.counts[status] += 1;
    progress.processed += rows.length;
    if (rows.length > 0) yield rows;
  }
}

const KEPT: ReadonlySet<RevertStatus> = new Set(['conflict', 'unchanged']);

const CHANGED_SINCE: ReadonlySet<RevertedProduct['conflict']> =
  new Set(['moved', 'changed', 'deleted'] as const);

/** Who made the change at a position, and when. */
async function findAuthor(
  store: Store, sellerId: SellerId, position: number | undefined,
): Promise<Conflict['since']> {
  if (position === undefined) return undefined;
  const { changes: [change] } = await store.listChanges(sellerId, {
    after: position - 1, limit: 1,
  });
  if (!change) return undefined;
  const { keyId, actor, at } = change;
  const names = await readKeyNames(store, sellerId, [keyId]);
  return { by: actor ?? names.get(keyId) ?? '', at };
}
