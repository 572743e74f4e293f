/**
 * What the pages of all jobs have in common: progress, the button that starts the job, rejected
 * rows. Texts from files are shortened, which bounds the size of the pages.
 */
import { type NewProduct, SENT_FIELDS } from '../../../domain/catalogue/product-fields.ts';
import type { ImportId } from '../../../domain/id.ts';
import { postForm } from '../forms/fields.ts';
import { type FormState, hiddenField } from '../forms/form.ts';
import { type Facts, facts, numeric, table } from '../html/elements.ts';
import { type Format, formatField } from '../html/format.ts';
import { type Content, html, type Html, shorten } from '../html/html.ts';
import { PREVIEW_REASON_BYTES, PREVIEW_TEXT_BYTES } from '../limits.ts';
import { pathOf } from '../records/import-record.ts';
import type { PageRequest } from '../route.ts';
import type { JobDescription } from './job-description.ts';
import type { RejectedLine } from './products/product-rows.ts';
import type { FileDescription } from './uploaded-file.ts';

/** How the page of a job shows one kind of task. */
export interface TaskView {
  readonly words: JobWords;
  /** Such as the file name. */
  readonly name: string;
  /** For the list: rows that were read, and rejected ones. */
  readonly rows: number;
  readonly rejected: number;
  /** 0 to 100. */
  readonly percent: number;
  /** How far the run is. */
  readonly extent: string;
  counts(isDryRun: boolean): Facts;
  /** @param state Of the form with the settings. */
  preview(state: FormState): Content;
  result(): Content;
  /** What the seller may do after the end. */
  next(): Content;
}

/** What the page calls a kind of job. */
export interface JobWords {
  /** The text before the name in the title, and the status in the list. */
  readonly phases: Readonly<
    Record<JobDescription['phase'], readonly [title: string, status: Html]>
  >;
  /** Labels of the progress bar. */
  readonly checking: string;
  readonly importing: string;
  /** What happens when the seller leaves the page of a running job. */
  readonly leave: string;
  /** Labels of buttons. */
  readonly discard: string;
  readonly cancel: string;
}

const FILE_WORDS: JobWords = {
  phases: {
    checking: ['Preview of', html`<span class="tag">Checking</span>`],
    ready: ['Preview of', html`<span class="tag low">Ready to import</span>`],
    importing: ['Importing', html`<span class="tag">Importing</span>`],
    done: ['Imported:', html`<span class="tag good">Imported</span>`],
    cancelled: ['Cancelled:', html`<span class="tag low">Cancelled</span>`],
    failed: ['Failed:', html`<span class="tag bad">Failed</span>`],
  },
  checking: 'Checking the file',
  importing: 'Importing',
  leave: 'You can leave this page; the import continues. If the server stops, the import ends, and '
    + 'imported products are kept.',
  discard: 'Discard file',
  cancel: 'Cancel import',
};

const KIB = 1024;

/** A size in KiB or MiB, with one decimal below 10. */
export function formatSize(format: Format, bytes: number): string {
  const [value, unit] = bytes < KIB * KIB ? [bytes / KIB, 'KiB'] : [bytes / KIB / KIB, 'MiB'];
  return `${format.number(value < 10 ? Math.ceil(value * 10) / 10 : Math.round(value))} ${unit}`;
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

/** The first rows that would be rejected. */
export function renderRejectedLines(format: Format, rejected: readonly RejectedLine[]): Content {
  return rejected.length > 0 && html`<h2>First rejected rows</h2>
    <p>After the import, you can download all rejected rows to correct and re-import them.</p>
    ${table({
    caption: 'First rows that would be rejected', columns: [numeric('Line'), 'SKU', 'Reason'],
    rows: rejected.map(({ line, sku, reason }) =>
      [format.number(line), limit(sku), shorten(reason, PREVIEW_REASON_BYTES)]),
  })}`;
}

/** The file of rejected rows. */
export function renderRejectedFile(
  { format, link }: PageRequest, { id }: JobDescription, { head, rejected }: FileDescription,
): Html {
  if (rejected?.sizeBytes === undefined) {
    return html`<p>The rejected rows could not be saved because the server stopped or its disk is
      full.</p>`;
  }
  return html`<section class="card"><h2>Rejected rows</h2>
    <p>Download ${rejected.isComplete ? 'all' : 'the first'} rejected rows in your file's format${
  head.format === 'csv' && ', with the reason in an extra column'}. Correct them, then
      upload the corrected file. The download is available for one day.</p>
    <p><a class="button" href="${link(`/import/${id}/rejected`)}" download>Download rejected
      rows (${formatSize(format, rejected.sizeBytes)})</a></p>
  </section>`;
}

/** How much of a file was read. */
interface FileRun {
  readonly progress: {
    readonly readBytes: number; readonly rows: number; readonly counts: { readonly failed: number };
  };
  readonly file: FileDescription;
}

function percentRead({ progress, file }: FileRun): number {
  return Math.floor(100 * progress.readBytes / file.sizeBytes);
}

/** What the page of any file shows. */
export function viewFile(
  { format, link }: PageRequest, run: FileRun,
): Omit<TaskView, 'counts' | 'preview' | 'result'> {
  const { progress: { readBytes, rows, counts }, file: { name, sizeBytes } } = run;
  const [read, size] = [readBytes, sizeBytes].map((n) => formatSize(format, n));
  return {
    words: FILE_WORDS, name, rows, rejected: counts.failed, percent: percentRead(run),
    extent: `${read} of ${size}, ${countRows(format, rows)} so far.`,
    next: () => html`<a class="button" href="${link('/import')}">Import another file</a>`,
  };
}

/** The link to what was recorded; nothing if nothing was written. */
export function renderRecordLink(
  { account: { sellerId }, link }: PageRequest, id: ImportId | undefined,
): Content {
  return id !== undefined && html`<p><a href="${link(pathOf({ sellerId, id }))}">View the record</a>
    to see what changed, or to revert it.</p>`;
}

/** What a dry run read. */
export function describeChecked(format: Format, run: FileRun, isComplete: boolean): string {
  const rows = countRows(format, run.progress.rows);
  const size = formatSize(format, run.file.sizeBytes);
  if (isComplete) return `Checked the whole file: ${rows}, ${size}.`;
  return `Checked the first ${rows}, ${percentRead(run)} % of ${size}. The rest is checked during `
    + 'the import and may contain rows that will be rejected.';
}

export function countRows(format: Format, rows: number): string {
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
