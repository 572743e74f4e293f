/**
 * What a kind of background job declares: how its tasks are previewed, written and shown. Tasks are
 * plain data that JSON keeps, of bounded size: examples of rows and the column names of one file.
 */
import type { Currency } from '../../../domain/catalogue/currency.ts';
import type { ImportCounts } from '../../../domain/catalogue/import.ts';
import type { AccountId, ImportId } from '../../../domain/id.ts';
import type { Store } from '../../../store/store.ts';
import type { Actor } from '../../../store/write.ts';
import type { Field } from '../forms/fields.ts';
import type { FieldErrors, Form, FormState } from '../forms/form.ts';
import type { Facts } from '../html/elements.ts';
import type { Content } from '../html/html.ts';
import type { PageRequest } from '../route.ts';
import type { FileHead, UploadedFile } from './uploaded-file.ts';

/** The account that uploads, previews or starts, and the currency of prices. */
export interface Importer extends Actor {
  readonly accountId: AccountId;
  readonly currency: Currency;
}

/** Who runs a task, and on what. */
export interface TaskRun {
  readonly importer: Importer;
  readonly store: Store;
  readonly upload?: UploadedFile | undefined;
}

/** The run of a task that reads a file. */
export interface FileRun extends TaskRun {
  readonly upload: UploadedFile;
}

/** Of the catalogue, before its products are read or changed. */
export async function readPosition({ importer: { sellerId }, store }: TaskRun): Promise<number> {
  return (await store.listProducts(sellerId, { after: undefined, limit: 1 })).position;
}

type AnyCounts = Readonly<Record<string, number>>;

/** Progress of one run, as plain data, which the run updates. */
export interface Progress<Counts extends AnyCounts> {
  /** Rows of the file, or products. */
  processed: number;
  readonly counts: Counts;
  /** The record; undefined in a dry run, and until the first batch is written. */
  importId: ImportId | undefined;
}

/** @param counts All zero. */
export function startProgress<Counts extends AnyCounts>(counts: Counts): Progress<Counts> {
  return { processed: 0, counts, importId: undefined };
}

/** Progress of the import of a file. */
export interface FileProgress<Counts extends AnyCounts> extends Progress<Counts> {
  readBytes: number;
  /** Sentences about the file. */
  fileNotes: readonly string[];
  /** Known once the first rows are read. */
  ignoredColumns: readonly string[];
}

/** @param counts All zero. */
export function startFileProgress<Counts extends AnyCounts>(counts: Counts): FileProgress<Counts> {
  return { ...startProgress(counts), readBytes: 0, fileNotes: [], ignoredColumns: [] };
}

/** What a job does, with certain settings. Other settings are another task. */
export interface TaskData {
  readonly kind: string;
  /** Of the current or latest run. */
  readonly progress: Progress<AnyCounts>;
  /** Undefined until the dry run has reached its end. */
  readonly preview: unknown;
}

export type FileKind = FileHead['kind'];

export interface JobKind<Task extends TaskData> {
  /** The task with its settings only: without preview and progress. */
  restart(task: Task): Task;
  /** Whether the settings allow a dry run. */
  isUsable(task: Task): boolean;
  /** Whether the dry run has a result that may be written. */
  canStart(task: Task): boolean;
  /** Sets `preview`, unless it is aborted or there is none. */
  dryRun(task: Task, run: TaskRun, signal: AbortSignal): Promise<void>;
  /** Returns whether it reached the end. */
  write(task: Task, run: TaskRun, signal: AbortSignal): Promise<boolean>;
  /** Rows or products in these counts. Default: the sum of all counts. */
  countProcessed?(counts: ImportCounts): number;

  /** Names of the fields of its settings, for drafts. */
  readonly fieldNames: readonly string[];
  /** The task with the settings of the form. Adds errors of fields. */
  readSettings(form: Form, task: Task, errors: Map<string, string>): Task;
  /** Fields whose errors the page shows. */
  listFields?(task: Task): readonly Field[];
  /** The errors of the form that starts a task. */
  validateStart?(form: Form, task: Task): FieldErrors;
  view(request: PageRequest, job: JobDescription, task: Task): TaskView;
  readonly file?: FileTaskKind<Task>;
}

/** A kind whose tasks read a file. */
interface FileTaskKind<Task extends TaskData> {
  /** What else the file may be read as, and what the page calls that. */
  readonly otherKind: FileKind;
  readonly otherLabel: string;
  /** How a file is read that may be of either kind. */
  readonly reading: string;
  /** The task of a new file, with the columns that were remembered. */
  open(run: TaskRun): Promise<Task>;
}

export interface FileJobKind<Task extends TaskData> extends JobKind<Task> {
  readonly file: FileTaskKind<Task>;
}

/** What the pages show of a job. */
export interface JobDescription<Task extends TaskData = TaskData> {
  readonly id: string;
  /** `checking` and `importing` are running, `ready` waits for the seller, the rest are final. */
  readonly phase: 'checking' | 'ready' | 'importing' | 'done' | 'cancelled' | 'failed';
  readonly task: Task;
  /** Incremented when the settings change, so the seller imports only what the preview showed. */
  readonly revision: number;
  /** Why the latest run failed. */
  readonly problem?: string | undefined;
  /** When the phase changed, in milliseconds since 1970. */
  readonly updatedAt: number;
}

/** Whether a job runs in the background. */
export function isRunning({ phase }: Pick<JobDescription, 'phase'>): boolean {
  return phase === 'checking' || phase === 'importing';
}

/** How the page of a job shows one task. */
export interface TaskView {
  readonly words: JobWords;
  /** Such as the file name. */
  readonly name: string;
  /** Rows or products that were rejected or left alone. */
  readonly rejected: number;
  /** 0 to 100. */
  readonly percent: number;
  /** How far the run is. */
  readonly extent: string;
  counts(isDryRun: boolean): Facts;
  /** @param state Of the form with the settings. */
  preview(state: FormState): Content;
  readonly result: TaskResult;
  /** What the seller may do after the end. */
  next(): Content;
}

/** The outcome of a task. */
interface TaskResult {
  /** Such as `3 rows`. */
  readonly amount: string;
  /** Instead of `complete`, if some were rejected or left alone. */
  readonly partly: Content;
  /** Whether nothing was imported, although nothing may have been rejected. */
  readonly isEmpty?: boolean;
  /** What to do about rejected rows. */
  readonly advice?: Content;
  /** What else the page shows. */
  readonly after?: Content;
}

/** What the page calls a kind of job. */
export interface JobWords {
  /** In sentences, such as `import`. */
  readonly noun: string;
  /** The text before the name in the title, and the status in the list. */
  readonly phases: Readonly<Record<JobDescription['phase'], readonly [title: string, tag: string]>>;
  /** Labels of the progress bar. */
  readonly checking: string;
  readonly importing: string;
  /** The label of the button. */
  readonly discard: string;
  /** The page to which discarding leads. */
  readonly home: string;
  /** What stays after an early end. */
  readonly kept: string;
  /** What to do after a failure. */
  readonly retry?: string;
}
