/**
 * What the pages of all jobs have in common: progress, the button that starts the job, rejected
 * rows. Texts from files are shortened, which bounds the size of the pages.
 */
import { type NewProduct, SENT_FIELDS } from '../../../domain/catalogue/product-fields.ts';
import type { ImportId } from '../../../domain/id.ts';
import { capitalize } from '../../../domain/text.ts';
import { explainNothing } from '../../../transfer/import-notes.ts';
import { postForm } from '../forms/fields.ts';
import { hiddenField } from '../forms/form.ts';
import { card, facts, numeric, type Table, table } from '../html/elements.ts';
import { type Format, formatField } from '../html/format.ts';
import { type Content, html, type Html, shorten } from '../html/html.ts';
import { PREVIEW_REASON_BYTES, PREVIEW_TEXT_BYTES } from '../limits.ts';
import { pathOf, renderRevertButton } from '../records/import-record.ts';
import type { PageRequest } from '../route.ts';
import { toFields } from './csv-fields.ts';
import type { FileProgress, JobDescription, JobWords, TaskData, TaskView } from './job-kind.ts';
import type { RejectedLine } from './products/product-rows.ts';
import type { FileDescription } from './uploaded-file.ts';

/** The class of the tag that shows a phase. */
const PHASE_CLASSES: Readonly<Record<JobDescription['phase'], string>> = {
  checking: '', ready: ' low', importing: '', done: ' good', cancelled: ' low', failed: ' bad',
};

export const FILE_WORDS: JobWords = {
  noun: 'import',
  phases: {
    checking: ['Preview of', 'Checking'], ready: ['Preview of', 'Ready to import'],
    importing: ['Importing', 'Importing'], done: ['Imported:', 'Imported'],
    cancelled: ['Cancelled:', 'Cancelled'], failed: ['Failed:', 'Failed'],
  },
  checking: 'Checking the file',
  importing: 'Importing',
  discard: 'Discard file',
  home: '/import',
  kept: 'Imported rows are kept.',
};

const KIB = 1024;

/** A size in KiB or MiB, with one decimal below 10. */
export function formatSize(format: Format, bytes: number): string {
  const [value, unit] = bytes < KIB * KIB ? [bytes / KIB, 'KiB'] : [bytes / KIB / KIB, 'MiB'];
  return `${format.number(value < 10 ? Math.ceil(value * 10) / 10 : Math.round(value))} ${unit}`;
}

/** The status in the list of jobs. */
export function renderPhaseTag(phase: JobDescription['phase'], { phases }: JobWords): Html {
  return html`<span class="tag${PHASE_CLASSES[phase]}">${phases[phase][1]}</span>`;
}

/** Progress of the current run; `import.js` refreshes it. */
export function renderProgress(
  { link }: PageRequest, { id, phase }: JobDescription,
  { words, percent, extent, counts }: TaskView,
): Html {
  const isDryRun = phase === 'checking';
  return html`<section class="card" id="progress" data-phase="${phase}">
    <p><label for="progress-bar">${isDryRun ? words.checking : words.importing}:
      ${percent} %</label></p>
    <p><progress id="progress-bar" max="100" value="${percent}">${percent} %</progress></p>
    <p class="read">${extent}</p>
    ${facts(counts(isDryRun))}
    <p><a class="button" href="${link(`/import/${id}`)}">Refresh</a></p>
  </section>`;
}

/** The button that starts what the preview shows. @param fields What must be filled in before. */
export function renderCommit(
  request: PageRequest, { id, revision }: JobDescription, label: string,
  { fields, className = 'primary' }: {
    readonly fields?: Content; readonly className?: 'primary' | 'danger';
  } = {},
): Html {
  return postForm(request, request.link(`/import/${id}/commit`), html`
    ${hiddenField('revision', revision)}${fields}
    <button class="${className}">${label}</button>`);
}

/** Why the dry run has no result. */
export function renderProblem({ problem }: JobDescription): Html {
  return html`<div class="notice bad" role="alert"><p>${toFields(problem ?? '')}</p>
      <p>Nothing was changed.</p></div>`;
}

/** The form with the settings of a task, which repeats the dry run. */
export function renderSettings(
  request: PageRequest, { id, task: { kind } }: JobDescription,
  { cardId, heading, fields, button = html`<button>Update preview</button>` }: {
    readonly cardId: string; readonly heading: string; readonly fields: Content;
    readonly button?: Html;
  },
): Html {
  const content = html`${hiddenField('kind', kind)}${fields}
    ${button}`;
  return card(cardId, heading, postForm(request, request.link(`/import/${id}`), content));
}

/** The outcome of a job, and its record. */
export function renderResult(
  request: PageRequest, { phase, problem, task }: JobDescription, view: TaskView,
): Html {
  const { words, rejected, counts, result: { amount, partly, isEmpty, advice, after } } = view;
  const isSuccess = phase === 'done' && rejected === 0 && !isEmpty;
  const subject = capitalize(words.noun);
  const outcome: Content = isSuccess ? `${subject} complete: ${amount}.`
    : phase === 'done' ? partly
    : phase === 'cancelled' ? `${subject} cancelled after ${amount}. ${words.kept}`
      : `The ${words.noun} failed after ${amount}: ${toFields(problem ?? '')} ${words.kept}`
        + (words.retry ?? '');
  return html`<div class="notice${isSuccess ? '' : ' low'}" role="status"><p>${outcome}</p></div>
    <div class="card">${facts(counts(false))}
      ${advice}${renderRecordLink(request, task.progress.importId)}</div>
    ${after}`;
}

/** A table of the first rows or products of a kind, below a heading; nothing without rows. */
export function renderExamples(heading: string, examples: Table, note?: string): Content {
  return examples.rows.length > 0 && html`<h2>${heading}</h2>
    ${note !== undefined && html`<p>${note}</p>`}${table(examples)}`;
}

/** The first rows that would be rejected. */
export function renderRejectedLines(format: Format, rejected: readonly RejectedLine[]): Content {
  return renderExamples('First rejected rows', {
    caption: 'First rows that would be rejected', columns: [numeric('Line'), 'SKU', 'Reason'],
    rows: rejected.map(({ line, sku, reason }) =>
      [format.number(line), limit(sku), shorten(toFields(reason), PREVIEW_REASON_BYTES)]),
  }, 'After the import, you can download all rejected rows to correct and re-import them.');
}

/** The file of rejected rows. */
function renderRejectedFile(
  { format, link }: PageRequest, { id }: JobDescription,
  { file: { head, rejected } }: FileTask,
): Html {
  if (rejected?.sizeBytes === undefined) {
    return html`<p>The rejected rows could not be saved because the server stopped or its disk is
      full.</p>`;
  }
  return html`<section class="card"><h2>Rejected rows</h2>
    <p>Download ${rejected.isComplete ? 'all' : 'the first'} rejected rows as ${
  head.format === 'csv' ? 'CSV, with the reason in an extra column' : 'NDJSON'}. ${
  rejected.hasParts ? html`Where a reason asks for the whole file, upload all of it again: correct
      it, or choose what several rows for one product mean.`
    : 'Correct them, then upload the corrected file.'} The download is available for one day.</p>
    <p><a class="button" href="${link(`/import/${id}/rejected`)}" download>Download rejected
      rows (${formatSize(format, rejected.sizeBytes)})</a></p>
  </section>`;
}

/** How much of a file was read. */
interface FileTask {
  readonly progress: FileProgress<Readonly<Record<'failed', number>>>;
  readonly file: FileDescription;
}

function percentRead({ progress, file }: FileTask): number {
  return Math.floor(100 * progress.readBytes / file.sizeBytes);
}

/** What the counts do not say. */
export function renderNotes(notes: readonly string[]): Content {
  return notes.map((note) => html`<p>${shorten(toFields(note), PREVIEW_REASON_BYTES)}</p>`);
}

/** What the page of any file shows. @param imported Rows, those without a change included. */
export function viewFile(
  request: PageRequest, job: JobDescription, task: FileTask, imported: number,
  notes: readonly string[],
): Omit<TaskView, 'counts' | 'preview'> {
  const { format, link } = request;
  const { progress: { readBytes, processed, counts }, file } = task;
  const { failed } = counts;
  const nothing = explainNothing(counts);
  const [read, size] = [readBytes, file.sizeBytes].map((n) => formatSize(format, n));
  const rows = countRows(format, processed);
  return {
    words: FILE_WORDS, name: file.name, rejected: failed, percent: percentRead(task),
    extent: `${read} of ${size}, ${rows} so far.`,
    result: {
      amount: rows,
      partly: failed === 0 && nothing !== undefined ? nothing
        : `${format.number(imported)} of ${rows} imported; ${format.number(failed)} rejected.`,
      isEmpty: nothing !== undefined,
      advice: renderNotes(notes),
      after: failed > 0 && renderRejectedFile(request, job, task),
    },
    next: () => html`<a class="button" href="${link('/import')}">Import another file</a>`,
  };
}

/** A task that changes stored products. */
interface ProductsTask {
  readonly kind: 'bulk' | 'revert';
  readonly progress: TaskData['progress'];
  readonly total: number;
}

/** What the page of such a task shows. @param reason Why products were left alone. */
export function viewProductsTask(
  request: PageRequest, { kind, progress, total }: ProductsTask,
  { words, rejected, reason = '' }: Pick<TaskView, 'words' | 'rejected'> & {
    readonly reason?: string;
  },
): Omit<TaskView, 'name' | 'counts' | 'preview'> {
  const { account: { sellerId }, format } = request;
  const { processed, importId } = progress;
  const amount = format.countProducts(processed);
  const conflictNote = `${format.number(rejected)} of them left alone${reason}`;
  return {
    words, rejected, extent: `${amount} so far.`,
    percent: total === 0 ? 0 : Math.min(100, Math.floor(100 * processed / total)),
    result: { amount, partly: `${capitalize(words.noun)} complete: ${amount}; ${conflictNote}.` },
    next: () => importId !== undefined
      && renderRevertButton(request, { sellerId, id: importId, kind }),
  };
}

/** The link to what was recorded; nothing if nothing was written. */
function renderRecordLink(
  { account: { sellerId }, link }: PageRequest, id: ImportId | undefined,
): Content {
  return id !== undefined && html`<p><a href="${link(pathOf({ sellerId, id }))}">View the record</a>
    to see what changed, or to revert it.</p>`;
}

/** What a dry run read. */
export function describeChecked(format: Format, task: FileTask, isComplete: boolean): string {
  const rows = countRows(format, task.progress.processed);
  const size = formatSize(format, task.file.sizeBytes);
  if (isComplete) return `Checked the whole file: ${rows}, ${size}.`;
  return `Checked the first ${rows}, ${percentRead(task)} % of ${size}. The rest is checked during `
    + 'the import and may contain rows that will be rejected.';
}

function countRows(format: Format, rows: number): string {
  return rows === 1 ? '1 row' : `${format.number(rows)} rows`;
}

/** For each member that differs: cells with its name, and its value before and after. */
export function compareProducts(
  format: Format, before: NewProduct, after: NewProduct,
): (readonly [name: string, before: Html, after: Html])[] {
  return SENT_FIELDS.filter(({ member }) =>
    (before[member] ?? null) !== (after[member] ?? null)).map((field) => [
    field.name,
    html`<del>${limit(formatField(format, field, before))}</del>`,
    html`<ins>${limit(formatField(format, field, after))}</ins>`,
  ]);
}

/** Shortens a text of a file. */
export function limit(text = '–'): string {
  return shorten(text, PREVIEW_TEXT_BYTES);
}
