/** The kinds of tasks: how a file becomes one, and its settings and its view. */
import { MEMBERS } from '../../../transfer/columns.ts';
import { STOCK_MEMBERS } from '../../../transfer/stock-columns.ts';
import type { Field } from '../forms/fields.ts';
import type { Form } from '../forms/form.ts';
import type { PageRequest } from '../route.ts';
import { recallColumns } from './column-memory.ts';
import type { ImportJob, ImportTask } from './import-job.ts';
import type { TaskView } from './job-view.ts';
import { DEFAULT_SETTINGS, type FileImport, ProductImport } from './products/product-import.ts';
import { readSettings, SETTINGS_FIELDS } from './products/product-settings.ts';
import { viewProducts } from './products/product-view.ts';
import { FORCE_FIELD } from './revert/revert-task.ts';
import { viewRevert } from './revert/revert-view.ts';
import { DEFAULT_STOCK_SETTINGS, StockImport } from './stock/stock-import.ts';
import {
  listStockFields, readStockSettings, STOCK_SETTINGS_FIELDS,
} from './stock/stock-settings.ts';
import { viewStock } from './stock/stock-view.ts';
import type { UploadedFile } from './uploaded-file.ts';

type FileKind = UploadedFile['head']['kind'];

/** The import of a file as one of products or of stock, with the columns that were remembered. */
export async function openFileImport(
  kind: FileKind, file: FileImport,
): Promise<ProductImport | StockImport> {
  const { store, importer: { sellerId }, upload: { head } } = file;
  if (kind === 'stock') {
    const map = await recallColumns(store, sellerId, { kind, head }, STOCK_MEMBERS);
    const hasRememberedColumns = map.size > 0;
    return new StockImport(file, { ...DEFAULT_STOCK_SETTINGS, map, hasRememberedColumns });
  }
  const map = await recallColumns(store, sellerId, { kind, head }, MEMBERS);
  return new ProductImport(file, {
    ...DEFAULT_SETTINGS, map, hasRememberedColumns: map.size > 0,
  });
}

/** What else the file of a task may be; undefined if it has none. */
export function otherKind({ kind }: ImportTask): FileKind | undefined {
  if (kind === 'revert') return undefined;
  return kind === 'stock' ? 'products' : 'stock';
}

/** Names of the fields of all settings. */
export const TASK_FIELDS: readonly string[] =
  [...new Set(['kind', FORCE_FIELD, ...SETTINGS_FIELDS, ...STOCK_SETTINGS_FIELDS])];

/** The task with the settings of the form, or one of the other kind. Adds errors of fields. */
export async function readTask(
  form: Form, task: ImportTask, errors: Map<string, string>,
): Promise<ImportTask> {
  if (task.kind === 'revert') return task.withForce(form.get(FORCE_FIELD) === 'true');
  const other = otherKind(task);
  if (other && form.get('kind') === other) return openFileImport(other, task.file);
  return task.kind === 'stock' ? task.withSettings(readStockSettings(form, task, errors))
    : task.withSettings(readSettings(form, task));
}

/** Fields whose errors the page shows. */
export function listFields(task: ImportTask): readonly Field[] {
  return task.kind === 'stock' ? listStockFields(task) : [];
}

export function viewTask(request: PageRequest, job: ImportJob): TaskView {
  const { task } = job.state;
  switch (task.kind) {
    case 'products': return viewProducts(request, job, task);
    case 'stock': return viewStock(request, job, task);
    case 'revert': return viewRevert(request, job, task);
  }
}
