/** What the page of an import of a stock file shows: what it would change, zero and reject. */
import { normalizeName } from '../../../../transfer/header.ts';
import { STOCK_MEMBERS } from '../../../../transfer/stock-columns.ts';
import { card, type Facts, facts, numeric, table } from '../../html/elements.ts';
import type { Format } from '../../html/format.ts';
import { type Content, html, type Html, shorten } from '../../html/html.ts';
import { COLUMN_NAME_BYTES } from '../../limits.ts';
import type { PageRequest } from '../../route.ts';
import { renderColumns } from '../column-fields.ts';
import type { JobDescription } from '../job-description.ts';
import {
  countRows, describeChecked, limit, renderCommit, renderRecordLink, renderRejectedFile,
  renderRejectedLines, type TaskView, viewFile,
} from '../job-view.ts';
import {
  canStartStock, isStockUsable, stockColumnsOf, type StockDescription,
} from './stock-import.ts';
import type { StockPreview } from './stock-rows.ts';
import {
  COMPLETE_LABEL, MEMBER_LABELS, renderStockSettings, ZERO_LIMIT_LABEL,
} from './stock-settings.ts';

const PERCENT = 100;

export function viewStock(
  request: PageRequest, job: JobDescription, task: StockDescription,
): TaskView {
  const { format } = request;
  const isCsv = task.file.head.format === 'csv';
  return {
    ...viewFile(request, task),
    counts: (isDryRun) => listCounts(format, task, isDryRun),
    preview: (state) => html`${renderPreview(request, job, task)}
      ${renderStockSettings(request, job.id, task, state)}
      ${isCsv && renderColumns(task.file, (index) => describeUse(task, index))}`,
    result: () => renderResult(request, job, task),
  };
}

function describeUse(task: StockDescription, index: number): string {
  const columns = stockColumnsOf(task);
  const members = STOCK_MEMBERS.filter((member) => columns?.indexes[member].includes(index));
  return members.map((member) => MEMBER_LABELS[member]).join(', ') || 'not used';
}

/** The result of the dry run, and the button that starts the import. */
function renderPreview(request: PageRequest, job: JobDescription, task: StockDescription): Content {
  const { preview, progress: { counts, ignoredColumns } } = task;
  if (!isStockUsable(task)) {
    return html`<div class="notice low" role="status"><p>${describeColumns(task)}</p></div>`;
  }
  if (!preview) {
    return html`<div class="notice bad" role="alert"><p>${job.problem}</p>
      <p>Nothing was changed.</p></div>`;
  }
  const { format } = request;
  const hasEffect = !preview.isComplete || counts.applied + counts.zeroed > 0;
  return html`${card('effect', 'Summary', html`
      <p>${describeChecked(format, task, preview.isComplete)} Nothing has been changed yet.</p>
      <p>Read as a stock file: only stock changes, and no products are created.</p>
      ${facts(listCounts(format, task, true))}
      ${ignoredColumns.length > 0 && html`<p>Columns that are not read: ${
  ignoredColumns.map((name) => shorten(name, COLUMN_NAME_BYTES)).join(', ')}.</p>`}
      ${counts.matched === 0 && counts.unknown > 0 && html`<p>None of the rows matches one of your
        products. To create them, read the file as a product file.</p>`}
      ${!hasEffect ? html`<p><strong>Nothing to import:</strong> no stock would change.</p>`
    : canStartStock(task) ? renderCommit(request, job, 'Import now')
      : renderRejection(format, task)}`)}
    ${preview.zeroed.length > 0 && renderZeroed(format, preview.zeroed)}
    ${preview.changes.length > 0 && renderChanges(format, preview.changes)}
    ${preview.unknown.length > 0 && renderUnknown(format, preview.unknown)}
    ${renderRejectedLines(format, preview.rejected)}`;
}

/** Why rows cannot be read. */
function describeColumns(task: StockDescription): string {
  const { file: { head: { header } } } = task;
  const columns = stockColumnsOf(task);
  const [pair] = columns?.missing ?? [];
  if (pair) {
    const labels = pair.map((member) => MEMBER_LABELS[member]).join(' or ');
    return `The file has no column for ${labels}. Choose the columns below.`;
  }
  const [member = 'set'] = columns?.ambiguous ?? [];
  const names = columns?.indexes[member].map((index) => header[index] ?? '') ?? [];
  const shown = names.map((name) => `"${shorten(name, COLUMN_NAME_BYTES)}"`).join(' and ');
  // Columns are chosen by name, in any case.
  const canChoose = new Set(names.map(normalizeName)).size === names.length;
  return `The file has several columns for ${MEMBER_LABELS[member]}: ${shown}. ${canChoose
    ? 'Choose one of them below.' : 'Rename or remove one of them, and upload the file again.'}`;
}

/** Why a stocktake cannot start, and what to do. */
function renderRejection(format: Format, { preview, total, settings }: StockDescription): Html {
  const { missing, inStock } = total;
  const percent = Math.ceil(PERCENT * missing / inStock);
  return html`<div class="notice low" role="status">${preview?.rejection !== undefined
    ? html`<p>${preview.rejection} To import the other rows without setting products to 0, clear
      "${COMPLETE_LABEL}" below.</p>`
    : html`<p>${format.number(missing)} of ${format.number(inStock)} products in stock (${
      format.number(percent)} %) are not in the file and would be set to 0. The limit is ${
      format.number(settings.zeroLimitPercent)} %. Check that the file is complete. If it is, raise
      "${ZERO_LIMIT_LABEL}" below.</p>`}</div>`;
}

function renderZeroed(format: Format, zeroed: StockPreview['zeroed']): Html {
  return html`<h2>Will be set to 0</h2>
    <p>The first products in stock that the file does not list.</p>
    ${table({
    caption: 'First products that would be set to 0',
    columns: ['SKU', numeric('Current'), numeric('New')],
    rows: zeroed.map(({ sku, stock }) => [
      limit(sku), html`<del>${format.number(stock)}</del>`, html`<ins>${format.number(0)}</ins>`,
    ]),
  })}`;
}

function renderChanges(format: Format, changes: StockPreview['changes']): Html {
  return html`<h2>First changes</h2>${table({
    caption: 'First products whose stock would change',
    columns: ['SKU', numeric('Line'), numeric('Current'), numeric('New')],
    rows: changes.map(({ line, sku, before, after }) => [
      limit(sku), format.number(line), html`<del>${format.number(before)}</del>`,
      html`<ins>${format.number(after)}</ins>`,
    ]),
  })}`;
}

function renderUnknown(format: Format, unknown: StockPreview['unknown']): Html {
  return html`<h2>First unknown products</h2>
    <p>You have no products with these SKUs or IDs. A stock file creates none.</p>
    ${table({
    caption: 'First rows of unknown products', columns: ['SKU or ID', numeric('Line')],
    rows: unknown.map(({ line, sku }) => [limit(sku), format.number(line)]),
  })}`;
}

/** The outcome of the import, and its file of rejected rows. */
function renderResult(request: PageRequest, job: JobDescription, task: StockDescription): Html {
  const { format } = request;
  const { phase, problem } = job;
  const { progress, file } = task;
  const { applied, unchanged, failed } = progress.counts;
  const rows = countRows(format, progress.rows);
  const isSuccess = phase === 'done' && failed === 0;
  const result: Content = isSuccess ? html`Import complete: ${rows}.`
    : phase === 'done' ? html`${format.number(applied + unchanged)} of ${rows} imported;
      ${format.number(failed)} rejected.`
    : phase === 'cancelled' ? html`Import cancelled after ${rows}. Imported rows are kept.`
      : html`The import failed after ${rows}: ${problem} Imported rows are kept.`;
  return html`<div class="notice${isSuccess ? '' : ' low'}" role="status"><p>${result}</p></div>
    <div class="card">${facts(listCounts(format, task, false))}
      ${renderRecordLink(request, progress.importId)}</div>
    ${failed > 0 && renderRejectedFile(request, job, file)}`;
}

function listCounts(
  format: Format, { progress: { counts }, settings }: StockDescription, isDryRun: boolean,
): Facts {
  const { matched, applied, unchanged, failed, unknown, zeroed } = counts;
  return [
    ['Matched products', format.number(matched)],
    [isDryRun ? 'Will change' : 'Changed', format.number(applied)],
    ['Unchanged', format.number(unchanged)],
    ['Unknown SKUs', format.number(unknown)],
    ['Other rejected rows', format.number(failed - unknown)],
    ...settings.isComplete
      ? [[isDryRun ? 'Will be set to 0' : 'Set to 0', format.number(zeroed)] as const] : [],
  ];
}
