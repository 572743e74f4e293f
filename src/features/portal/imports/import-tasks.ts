/** The kinds of tasks: how a file or a description becomes one, and its settings and its view. */
import type { Store } from '../../../store/store.ts';
import { MEMBERS } from '../../../transfer/columns.ts';
import { STOCK_MEMBERS } from '../../../transfer/stock-columns.ts';
import type { Field } from '../forms/fields.ts';
import { type FieldErrors, type Form, NO_ERRORS } from '../forms/form.ts';
import type { PageRequest } from '../route.ts';
import { BulkTask } from './bulk/bulk-task.ts';
import {
  CATEGORY_FIELD, listBulkFields, readCategory, validateConfirmation, viewBulk,
} from './bulk/bulk-view.ts';
import { recallColumns } from './column-memory.ts';
import type { JobDescription, TaskDescription } from './job-description.ts';
import type { ImportTask } from './job-state.ts';
import type { TaskView } from './job-view.ts';
import {
  DEFAULT_SETTINGS, type FileImport, type Importer, ProductImport,
} from './products/product-import.ts';
import { readSettings, SETTINGS_FIELDS } from './products/product-settings.ts';
import { viewProducts } from './products/product-view.ts';
import { FORCE_FIELD, RevertTask } from './revert/revert-task.ts';
import { viewRevert } from './revert/revert-view.ts';
import { DEFAULT_STOCK_SETTINGS, StockImport } from './stock/stock-import.ts';
import {
  listStockFields, readStockSettings, STOCK_SETTINGS_FIELDS,
} from './stock/stock-settings.ts';
import { viewStock } from './stock/stock-view.ts';
import { type JobFiles, UploadedFile } from './uploaded-file.ts';

type FileKind = UploadedFile['head']['kind'];

/** The import of a file as one of products or of stock, with the columns that were remembered. */
export async function openFileImport(
  kind: FileKind, file: FileImport,
): Promise<ProductImport | StockImport> {
  const { store, importer: { sellerId }, upload: { head } } = file;
  if (kind === 'stock') {
    const map = await recallColumns(store, sellerId, { kind, head }, STOCK_MEMBERS);
    const hasRememberedColumns = map.length > 0;
    return new StockImport(file, { ...DEFAULT_STOCK_SETTINGS, map, hasRememberedColumns });
  }
  const map = await recallColumns(store, sellerId, { kind, head }, MEMBERS);
  return new ProductImport(file, {
    ...DEFAULT_SETTINGS, map, hasRememberedColumns: map.length > 0,
  });
}

interface TaskEnvironment {
  readonly importer: Importer;
  readonly store: Store;
  readonly files: JobFiles;
}

/** The task that was described, on this node or another one. */
export function openTask(
  task: TaskDescription, { importer, store, files }: TaskEnvironment,
): ImportTask {
  if (task.kind === 'revert') {
    return new RevertTask({ actor: importer, subject: task.subject, store }, task.isForced, task);
  }
  if (task.kind === 'bulk') {
    const { selection, change, suggestions } = task;
    return new BulkTask({ actor: importer, store }, { selection, change }, suggestions, task);
  }
  const file = { importer, store, upload: new UploadedFile(task.file, files) };
  return task.kind === 'stock' ? new StockImport(file, task.settings, task)
    : new ProductImport(file, task.settings, task);
}

/** What else the file of a task may be; undefined if it has none. */
export function otherKind({ kind }: Pick<TaskDescription, 'kind'>): FileKind | undefined {
  if (kind === 'revert' || kind === 'bulk') return undefined;
  return kind === 'stock' ? 'products' : 'stock';
}

/** Names of the fields of all settings. */
export const TASK_FIELDS: readonly string[] =
  [...new Set(['kind', FORCE_FIELD, CATEGORY_FIELD, ...SETTINGS_FIELDS, ...STOCK_SETTINGS_FIELDS])];

/** The task with the settings of the form, or one of the other kind. Adds errors of fields. */
export async function readTask(
  form: Form, task: ImportTask, errors: Map<string, string>,
): Promise<ImportTask> {
  if (task.kind === 'revert') return task.withForce(form.get(FORCE_FIELD) === 'true');
  if (task.kind === 'bulk') {
    if (!form.has(CATEGORY_FIELD)) return task.restart();
    const category = readCategory(form, errors);
    return errors.size > 0 ? task : task.withCategory(category);
  }
  const other = otherKind(task);
  if (other && form.get('kind') === other) return openFileImport(other, task.file);
  return task.kind === 'stock'
    ? task.withSettings(readStockSettings(form, task.description, errors))
    : task.withSettings(readSettings(form, task.description));
}

/** Fields whose errors the page shows. */
export function listFields(task: TaskDescription): readonly Field[] {
  if (task.kind === 'bulk') return listBulkFields(task);
  return task.kind === 'stock' ? listStockFields(task) : [];
}

/** The errors of the form that starts a task. */
export function validateStart(form: Form, task: TaskDescription): FieldErrors {
  return task.kind === 'bulk' ? validateConfirmation(task, form) : NO_ERRORS;
}

export function viewTask(request: PageRequest, job: JobDescription): TaskView {
  const { task } = job;
  switch (task.kind) {
    case 'products': return viewProducts(request, job, task);
    case 'stock': return viewStock(request, job, task);
    case 'revert': return viewRevert(request, job, task);
    case 'bulk': return viewBulk(request, job, task);
  }
}
