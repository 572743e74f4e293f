/** The import of an uploaded product file with certain settings, and its dry run. */
import type { ImportMode } from '../../../../store/catalogue-store.ts';
import { type Columns, matchColumns, type Member, MEMBERS } from '../../../../transfer/columns.ts';
import { CsvRows } from '../../../../transfer/csv-rows.ts';
import { makeNdjsonReader } from '../../../../transfer/ndjson.ts';
import { formatRowErrors } from '../../../../transfer/rejected-rows.ts';
import { type DuplicateRowChoice, DuplicateRows } from '../../../imports/duplicate-rows.ts';
import { createDryRunTarget, createWriteTarget } from '../../../imports/import-target.ts';
import { type MemberValues, recallColumns, rememberColumns } from '../column-fields.ts';
import { type CsvSettings, toFileOptions } from '../csv-fields.ts';
import type { FileRun } from '../job-kind.ts';
import type { FileDescription, RejectedRow } from '../uploaded-file.ts';
import {
  type DryRun, previewRows, readRows, type RowProgress, startRowProgress,
} from './product-rows.ts';

/** Import settings, as plain data; columns and defaults apply to CSV only. */
export interface ProductSettings extends CsvSettings {
  readonly mode: ImportMode;
  readonly map: MemberValues<Member>;
  readonly defaults: MemberValues<Member>;
  /** Default: `reject`. */
  readonly duplicates?: DuplicateRowChoice | undefined;
  /** Whether `map` is what the seller chose for an earlier file with the same column names. */
  readonly hasRememberedColumns?: boolean;
}

/** The import of a product file, as plain data. */
export interface ProductImport {
  readonly kind: 'products';
  readonly file: FileDescription;
  readonly settings: ProductSettings;
  readonly progress: RowProgress;
  /** Undefined until the dry run has reached its end. */
  preview: DryRun | undefined;
}

/** How the columns are matched; undefined unless the file is CSV. */
export function columnsOf(
  { file: { head: { format, header, untrusted } }, settings: { mode, map, defaults } }:
  Pick<ProductImport, 'file' | 'settings'>,
): Columns | undefined {
  if (format !== 'csv') return undefined;
  return matchColumns(header, new Map(map), new Map(defaults), mode !== 'create', untrusted);
}

/** The import of a new file, with the columns that were remembered. */
export async function openProducts(run: FileRun): Promise<ProductImport> {
  const map = await recallColumns(run, 'products', MEMBERS);
  return restartProducts({ kind: 'products', file: run.upload.description, settings: {
    mode: 'upsert', map, defaults: [], hasRememberedColumns: map.length > 0,
  } });
}

export function restartProducts(
  task: Omit<ProductImport, 'progress' | 'preview'>,
): ProductImport {
  return { ...task, progress: startRowProgress(), preview: undefined };
}

/** Sets `preview`, unless the file cannot be read. */
export async function previewProducts(
  task: ProductImport, run: FileRun, signal: AbortSignal,
): Promise<void> {
  const { importer, store } = run;
  const target = createDryRunTarget(store, { ...importer, position: 0 }, task.settings.mode);
  task.preview = await previewRows(readFile(task, run, target), store, importer.sellerId, signal);
}

/** Yields the rejected rows of each batch that was written. */
export async function* writeProducts(
  task: ProductImport, run: FileRun,
): AsyncGenerator<readonly RejectedRow[], void, void> {
  const { importer, upload, store } = run;
  const { kind, settings: { mode, map } } = task;
  await rememberColumns(run, kind, map);
  const target = createWriteTarget(store, importer, mode, { fileName: upload.name });
  for await (const outcomes of readFile(task, run, target)) {
    yield outcomes.flatMap(({ line, errors }) =>
      (errors ? [{ line, reason: formatRowErrors(errors) }] : []));
  }
}

function readFile(
  { settings, progress }: ProductImport,
  { importer: { currency, sellerId }, store, upload: { file, head } }: FileRun,
  target: Parameters<typeof readRows>[3],
): ReturnType<typeof readRows> {
  const reader = head.format === 'ndjson' ? makeNdjsonReader(currency)
    : new CsvRows(currency, {
      map: new Map(settings.map), defaults: new Map(settings.defaults),
      isPartial: settings.mode !== 'create', ...toFileOptions(settings, head),
    });
  const { mode, duplicates: choice = 'reject' } = settings;
  const duplicates = new DuplicateRows(store, sellerId, choice, mode);
  return readRows(reader, file.read(), duplicates, target, progress);
}
