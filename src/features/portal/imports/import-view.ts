/**
 * The parts of an import's page: progress, preview (what would be created, updated and rejected)
 * and result. Texts from the file are shortened, which bounds the size of the page.
 */
import { SENT_FIELDS } from '../../../domain/catalogue/product-fields.ts';
import { postForm } from '../forms/fields.ts';
import { card, facts, numeric, table } from '../html/elements.ts';
import { type Format, formatField } from '../html/format.ts';
import { type Content, html, type Html, shorten } from '../html/html.ts';
import { DIFFERENCES_SHOWN, PREVIEW_REASON_BYTES, PREVIEW_TEXT_BYTES } from '../limits.ts';
import type { PageRequest } from '../route.ts';
import type { ImportJob } from './import-job.ts';
import type { DryRun, RowProgress } from './import-rows.ts';
import { advise } from './import-settings.ts';

/** The text before the file name in the title, and the status in the list. */
export const PHASES: Readonly<
  Record<ImportJob['state']['phase'], readonly [title: string, status: Html]>
> = {
  checking: ['Preview of', html`<span class="tag">Checking</span>`],
  ready: ['Preview of', html`<span class="tag low">Ready to import</span>`],
  importing: ['Importing', html`<span class="tag">Importing</span>`],
  done: ['Imported:', html`<span class="tag good">Imported</span>`],
  cancelled: ['Cancelled:', html`<span class="tag low">Cancelled</span>`],
  failed: ['Failed:', html`<span class="tag bad">Failed</span>`],
};

const KIB = 1024;

/** A size in KiB or MiB, with one decimal below 10. */
export function formatSize(format: Format, bytes: number): string {
  const [value, unit] = bytes < KIB * KIB ? [bytes / KIB, 'KiB'] : [bytes / KIB / KIB, 'MiB'];
  return `${format.number(value < 10 ? Math.ceil(value * 10) / 10 : Math.round(value))} ${unit}`;
}

/** Progress of the current run; `import.js` refreshes it. */
export function renderProgress({ format, link }: PageRequest, job: ImportJob): Html {
  const { state: { phase, progress }, upload: { file } } = job;
  const percent = percentRead(job);
  const [read, size] = [progress.readBytes, file.sizeBytes].map((n) => formatSize(format, n));
  return html`<section class="card" id="progress" data-phase="${phase}">
    <p><label for="progress-bar">${phase === 'checking' ? 'Checking the file' : 'Importing'}:
      ${percent} %</label></p>
    <p><progress id="progress-bar" max="100" value="${percent}">${percent} %</progress></p>
    <p class="read">${read} of ${size}, ${countRows(format, progress.rows)} so far.</p>
    ${renderCounts(format, progress, phase === 'checking')}
    <p><a class="button" href="${link(`/import/${job.id}`)}">Refresh</a></p>
  </section>`;
}

/** The result of the dry run, and the button that starts the import. */
export function renderPreview(request: PageRequest, job: ImportJob): Content {
  const { columns, state: { preview, problem, progress } } = job;
  if (columns && !columns.isUsable) {
    return html`<div class="notice low" role="status"><p>The file has no column named
      <strong>${columns.missing.join(', ')}</strong>. Choose the columns below.</p></div>`;
  }
  if (!preview) {
    return html`<div class="notice bad" role="alert"><p>${problem}</p>
      <p>Nothing was changed.</p></div>`;
  }
  const { format } = request;
  const { differences, rejected } = preview;
  return html`${card('effect', 'Summary', html`
      <p>${describeExtent(request, job, preview)} Nothing has been changed yet.</p>
      ${columns && columns.missing.length > 0 && html`<p>The file has no column for
        ${columns.missing.join(', ')}. Existing products keep their values.</p>`}
      ${renderCounts(format, progress, true)}
      ${renderAdvice(job)}
      ${renderCommit(request, job, preview)}`)}
    ${differences.length > 0 && renderDifferences(format, differences)}
    ${rejected.length > 0 && html`<h2>First rejected rows</h2>
      <p>After the import, you can download all rejected rows to correct and re-import them.</p>
      ${table({
    caption: 'First rows that would be rejected', columns: [numeric('Line'), 'SKU', 'Reason'],
    rows: rejected.map(({ line, sku, reason }) =>
      [format.number(line), limit(sku), shorten(reason, PREVIEW_REASON_BYTES)]),
  })}`}
    ${renderDuplicates(format, progress)}`;
}

/** The outcome of the import, and its file of rejected rows. */
export function renderResult({ format, link }: PageRequest, job: ImportJob): Html {
  const { phase, progress, problem } = job.state;
  const { created, updated, unchanged, failed } = progress.counts;
  const rows = countRows(format, progress.rows);
  const isSuccess = phase === 'done' && failed === 0;
  const result: Content = isSuccess ? html`Import complete: ${rows}.`
    : phase === 'done' ? html`${format.number(created + updated + unchanged)} of ${rows} imported;
      ${format.number(failed)} rejected.`
    : phase === 'cancelled' ? html`Import cancelled after ${rows}. Imported rows are kept.`
      : html`The import failed after ${rows}: ${problem} Imported rows are kept. Fix the problem,
        then upload the file again to continue.`;
  return html`<div class="notice${isSuccess ? '' : ' low'}" role="status"><p>${result}</p></div>
    <div class="card">${renderCounts(format, progress, false)}${renderAdvice(job)}</div>
    ${renderDuplicates(format, progress)}
    ${failed > 0 && renderRejected(link(`/import/${job.id}/refused`), format, job)}`;
}

function renderRejected(href: string, format: Format, { rejected, upload }: ImportJob): Html {
  const { file, isComplete } = rejected;
  if (!file) {
    return html`<p>The rejected rows could not be saved because the server's disk is full.</p>`;
  }
  return html`<section class="card"><h2>Rejected rows</h2>
    <p>Download ${isComplete ? 'all' : 'the first'} rejected rows in your file's format${
  upload.head.format === 'csv' && ', with the reason in an extra column'}. Correct them, then
      upload the corrected file. The download is available for one day.</p>
    <p><a class="button main" href="${href}" download>Download rejected rows
      (${formatSize(format, file.sizeBytes)})</a></p>
  </section>`;
}

function describeExtent(
  { format }: PageRequest, job: ImportJob, { isComplete }: DryRun,
): string {
  const rows = countRows(format, job.state.progress.rows);
  const size = formatSize(format, job.upload.file.sizeBytes);
  if (isComplete) return `Checked the whole file: ${rows}, ${size}.`;
  return `Checked the first ${rows}, ${percentRead(job)} % of ${size}. The rest is checked during `
    + 'the import and may contain rows that will be rejected.';
}

function renderCommit(
  request: PageRequest, { id, state }: ImportJob, { isComplete }: DryRun,
): Html {
  const { created, updated } = state.progress.counts;
  if (isComplete && created + updated === 0) {
    return html`<p><strong>Nothing to import:</strong> no products would be created or
      updated.</p>`;
  }
  return postForm(request, request.link(`/import/${id}/commit`), html`
    <input type="hidden" name="revision" value="${state.revision}">
    <button>Import now</button>`);
}

function renderDifferences(format: Format, differences: DryRun['differences']): Html {
  const rows = differences.flatMap(({ before, after, line }) => {
    const changed = SENT_FIELDS.filter(({ member }) => before[member] !== after[member]);
    return changed.map((field) => [
      limit(after.sku), format.number(line), field.name,
      html`<del>${limit(formatField(format, field, before))}</del>`,
      html`<ins>${limit(formatField(format, field, after))}</ins>`,
    ]);
  });
  return html`<h2>First changes</h2>${table({
    caption: 'First products that would be updated',
    columns: ['SKU', numeric('Line'), 'Field', 'Current', 'New'],
    rows: rows.slice(0, DIFFERENCES_SHOWN),
  })}`;
}

function renderCounts(
  format: Format, { counts, duplicates }: RowProgress, isDryRun: boolean,
): Html {
  return facts([
    [isDryRun ? 'Will be created' : 'Created', format.number(counts.created)],
    [isDryRun ? 'Will be updated' : 'Updated', format.number(counts.updated)],
    ['Unchanged', format.number(counts.unchanged)],
    [isDryRun ? 'Will be rejected' : 'Rejected', format.number(counts.failed)],
    ...counts.skipped > 0 ? [['Rows without a product', format.number(counts.skipped)] as const]
      : [],
    ...duplicates.count > 0 ? [['Duplicate rows', format.number(duplicates.count)] as const] : [],
  ]);
}

/** The first rows that override an earlier row. */
function renderDuplicates(format: Format, { duplicates: { first } }: RowProgress): Content {
  return first.length > 0 && html`<h2>Duplicate rows</h2>
    <p>These rows have the SKU of an earlier row. The last row with a SKU wins.</p>
    ${table({
    caption: 'First rows that override an earlier row',
    columns: [numeric('Line'), 'SKU', numeric('Overrides line')],
    rows: first.map(({ line, sku, overrides }) =>
      [format.number(line), limit(sku), format.number(overrides)]),
  })}`;
}

function renderAdvice(job: ImportJob): Content {
  const advice = advise(job);
  return advice !== undefined && html`<p>${shorten(advice, PREVIEW_REASON_BYTES)}</p>`;
}

function percentRead({ state: { progress }, upload: { file } }: ImportJob): number {
  return Math.floor(100 * progress.readBytes / file.sizeBytes);
}

function countRows(format: Format, rows: number): string {
  return rows === 1 ? '1 row' : `${format.number(rows)} rows`;
}

function limit(text = '–'): string {
  return shorten(text, PREVIEW_TEXT_BYTES);
}
