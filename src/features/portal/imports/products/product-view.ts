/** What the page of an import of products shows: what it would create, update and reject. */
import { card, type Facts, facts, numeric, table } from '../../html/elements.ts';
import type { Format } from '../../html/format.ts';
import { type Content, html, type Html, shorten } from '../../html/html.ts';
import { DIFFERENCES_SHOWN, PREVIEW_REASON_BYTES } from '../../limits.ts';
import type { PageRequest } from '../../route.ts';
import { renderColumns } from '../column-fields.ts';
import type { JobDescription } from '../job-description.ts';
import type { DryRun } from './product-rows.ts';
import { advise, describeUse, renderSettings } from './product-settings.ts';
import {
  compareProducts, countRows, describeChecked, limit, renderCommit, renderRecordLink,
  renderRejectedFile, renderRejectedLines, type TaskView, viewFile,
} from '../job-view.ts';
import { columnsOf, type ProductDescription } from './product-import.ts';

export function viewProducts(
  request: PageRequest, job: JobDescription, task: ProductDescription,
): TaskView {
  const { format } = request;
  return {
    ...viewFile(request, task),
    counts: (isDryRun) => listCounts(format, task, isDryRun),
    preview: (state) => {
      const columns = columnsOf(task);
      return html`${renderPreview(request, job, task)}
        ${renderSettings(request, job.id, task, state)}
        ${columns && renderColumns(task.file, (index) => describeUse(columns, index))}`;
    },
    result: () => renderResult(request, job, task),
  };
}

/** The result of the dry run, and the button that starts the import. */
function renderPreview(
  request: PageRequest, job: JobDescription, task: ProductDescription,
): Content {
  const { problem } = job;
  const { preview, progress: { counts } } = task;
  const columns = columnsOf(task);
  if (columns && !columns.isUsable) {
    return html`<div class="notice low" role="status"><p>The file has no column named
      <strong>${columns.missing.join(', ')}</strong>. Choose the columns below.</p></div>`;
  }
  if (!preview) {
    return html`<div class="notice bad" role="alert"><p>${problem}</p>
      <p>Nothing was changed.</p></div>`;
  }
  const { format } = request;
  const { differences, rejected, isComplete } = preview;
  const hasEffect = !isComplete || counts.created + counts.updated > 0;
  return html`${card('effect', 'Summary', html`
      <p>${describeChecked(format, task, isComplete)} Nothing has been changed yet.</p>
      ${columns && columns.missing.length > 0 && html`<p>The file has no column for
        ${columns.missing.join(', ')}. Existing products keep their values.</p>`}
      ${facts(listCounts(format, task, true))}
      ${renderAdvice(task, true)}
      ${hasEffect ? renderCommit(request, job, 'Import now')
    : html`<p><strong>Nothing to import:</strong> no products would be created or
        updated.</p>`}`)}
    ${differences.length > 0 && renderDifferences(format, differences)}
    ${renderRejectedLines(format, rejected)}
    ${renderDuplicates(format, task)}`;
}

/** The outcome of the import, and its file of rejected rows. */
function renderResult(request: PageRequest, job: JobDescription, task: ProductDescription): Html {
  const { format } = request;
  const { phase, problem } = job;
  const { progress, file } = task;
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
    <div class="card">${facts(listCounts(format, task, false))}
      ${renderAdvice(task, false)}${renderRecordLink(request, progress.importId)}</div>
    ${renderDuplicates(format, task)}
    ${failed > 0 && renderRejectedFile(request, job, file)}`;
}

function renderDifferences(format: Format, differences: DryRun['differences']): Html {
  const rows = differences.flatMap(({ before, after, line }) => {
    return compareProducts(format, before, after).map((cells) =>
      [limit(after.sku), format.number(line), ...cells]);
  });
  return html`<h2>First changes</h2>${table({
    caption: 'First products that would be updated',
    columns: ['SKU', numeric('Line'), 'Field', 'Current', 'New'],
    rows: rows.slice(0, DIFFERENCES_SHOWN),
  })}`;
}

function listCounts(format: Format, { progress }: ProductDescription, isDryRun: boolean): Facts {
  const { counts: { created, updated, unchanged, failed, skipped }, duplicates } = progress;
  return [
    [isDryRun ? 'Will be created' : 'Created', format.number(created)],
    [isDryRun ? 'Will be updated' : 'Updated', format.number(updated)],
    ['Unchanged', format.number(unchanged)],
    [isDryRun ? 'Will be rejected' : 'Rejected', format.number(failed)],
    ...skipped > 0 ? [['Rows without a product', format.number(skipped)] as const] : [],
    ...duplicates.count > 0 ? [['Duplicate rows', format.number(duplicates.count)] as const] : [],
  ];
}

/** The first rows that override an earlier row. */
function renderDuplicates(format: Format, { progress }: ProductDescription): Content {
  const { first } = progress.duplicates;
  return first.length > 0 && html`<h2>Duplicate rows</h2>
    <p>These rows have the SKU of an earlier row. The last row with a SKU wins.</p>
    ${table({
    caption: 'First rows that override an earlier row',
    columns: [numeric('Line'), 'SKU', numeric('Overrides line')],
    rows: first.map(({ line, sku, overrides }) =>
      [format.number(line), limit(sku), format.number(overrides)]),
  })}`;
}

function renderAdvice(task: ProductDescription, isDryRun: boolean): Content {
  const advice = advise(task, isDryRun);
  return advice !== undefined && html`<p>${shorten(advice, PREVIEW_REASON_BYTES)}</p>`;
}
