/** The kinds of jobs, and what is done with a task of any kind. */
import type { ImportCounts } from '../../../domain/catalogue/import.ts';
import type { Form } from '../forms/form.ts';
import type { BulkTask } from './bulk/bulk-task.ts';
import { bulkKind } from './bulk/bulk-view.ts';
import type { FileJobKind, FileKind, JobKind, TaskRun } from './job-kind.ts';
import type { ProductImport } from './products/product-import.ts';
import { productKind } from './products/product-view.ts';
import type { RevertTask } from './revert/revert-task.ts';
import { revertKind } from './revert/revert-view.ts';
import type { StockImport } from './stock/stock-import.ts';
import { stockKind } from './stock/stock-view.ts';

/** What a job does: a task of any kind. */
export type JobTask = ProductImport | StockImport | RevertTask | BulkTask;

const FILE_KINDS: Readonly<Record<FileKind, FileJobKind<JobTask>>> = {
  products: productKind, stock: stockKind,
};
const KINDS: Readonly<Record<JobTask['kind'], JobKind<JobTask>>> = {
  ...FILE_KINDS, revert: revertKind, bulk: bulkKind,
};

/** Names of the fields of all settings. */
export const SETTINGS_FIELDS: readonly string[] =
  ['kind', ...new Set(Object.values(KINDS).flatMap(({ fieldNames }) => fieldNames))];

export function kindOf({ kind }: Pick<JobTask, 'kind'>): JobKind<JobTask> {
  return KINDS[kind];
}

/** The import of a file as one of this kind, with the columns that were remembered. */
export function openFileTask(kind: FileKind, run: TaskRun): Promise<JobTask> {
  return FILE_KINDS[kind].file.open(run);
}

/** The task with the settings of the form, or one of the other kind. Adds errors of fields. */
export async function readTask(
  form: Form, task: JobTask, run: TaskRun, errors: Map<string, string>,
): Promise<JobTask> {
  const kind = kindOf(task);
  const other = kind.file?.otherKind;
  if (other && form.get('kind') === other) return openFileTask(other, run);
  return kind.restart(kind.readSettings(form, task, errors));
}

/** For the next run: the same task and preview. */
export function withoutProgress(task: JobTask): JobTask {
  const { progress } = kindOf(task).restart(task);
  return { ...task, progress } as JobTask; // the cast: the progress is of its kind
}

/** After the node that wrote it has stopped. @param counts Of the import's record, if known. */
export function noteCounts(task: JobTask, counts: ImportCounts = {}): void {
  const { progress } = task;
  Object.assign(progress.counts, counts);
  progress.processed = kindOf(task).countProcessed?.(progress.counts)
    ?? Object.values(progress.counts).reduce((sum, count) => sum + count, 0);
}
