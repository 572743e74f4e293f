/** Imports of stock: their settings, and what the page shows: what would change. */
import { DUPLICATE_LEVELS } from '../../../../api/stock/duplicate-levels.ts';
import { stockReason } from '../../../../domain/catalogue/stock-change.ts';
import { STOCK_SYNC_VALIDATORS, stockSource } from '../../../../domain/catalogue/stock-sync.ts';
import { REASON_LIMIT_CODE_POINTS, SOURCE_LIMIT_CODE_POINTS } from '../../../../domain/limits.ts';
import type { Validator } from '../../../../domain/validation.ts';
import { describeNotes } from '../../../../transfer/import-notes.ts';
import {
  type StockColumns, STOCK_MEMBERS, type StockMember,
} from '../../../../transfer/stock-columns.ts';
import { type Field, renderFields } from '../../forms/fields.ts';
import { type Form, type FormState, takeValue } from '../../forms/form.ts';
import { parseTypedWhole } from '../../forms/typed-values.ts';
import { card, type Facts, facts, numeric } from '../../html/elements.ts';
import type { Format } from '../../html/format.ts';
import { type Content, html, type Html, shorten } from '../../html/html.ts';
import { COLUMN_NAME_BYTES } from '../../limits.ts';
import type { PageRequest } from '../../route.ts';
import {
  columnFieldNames, describeAmbiguous, describeMissing, readColumns, renderColumnFields,
  renderColumns,
} from '../column-fields.ts';
import { CSV_FIELD_NAMES, duplicatesField, listCsvFields, readCsvFields } from '../csv-fields.ts';
import type { FileJobKind, FileRun, JobDescription, TaskView } from '../job-kind.ts';
import {
  describeChecked, limit, renderCommit, renderExamples, renderNotes, renderProblem,
  renderRejectedLines, renderSettings, viewFile,
} from '../job-view.ts';
import {
  canStartStock, openStock, previewStockFile, restartStock, stockColumnsOf, type StockImport,
  type StockSettings, writeStock,
} from './stock-import.ts';
import type { StockPreview } from './stock-rows.ts';

/** How the page names the members of a stock change. */
const MEMBER_LABELS: Readonly<Record<StockMember, string>> = {
  sku: 'SKU', id: 'product ID', barcode: 'barcode', set: 'stock', adjust: 'stock adjustment',
  expect: 'expected stock', sequence: 'sequence number', reason: 'reason',
};

const COMPLETE_LABEL = 'This file is a complete stocktake: set them to 0';
const ZERO_LIMIT_LABEL = 'Limit on products set to 0, in percent of those in stock';

const PERCENT = 100;

export const stockKind: FileJobKind<StockImport> = {
  restart: restartStock,
  isUsable: (task) => stockColumnsOf(task)?.isUsable !== false,
  canStart: canStartStock,
  dryRun: previewStockFile,
  write: (task, run: FileRun, signal) =>
    run.upload.collectRejected(task, writeStock(task, run), signal),
  countProcessed: ({ applied = 0, unchanged = 0, failed = 0 }) => applied + unchanged + failed,
  fieldNames: [
    'duplicates', 'complete', 'zero_limit', 'reason', 'source', ...CSV_FIELD_NAMES,
    ...columnFieldNames(STOCK_MEMBERS),
  ],
  readSettings: (form, task, errors) =>
    ({ ...task, settings: readSettings(form, task, errors) }),
  listFields,
  view: viewStock,
  file: {
    otherKind: 'products', otherLabel: 'product file', open: openStock,
    reading: 'It is read as a stock file: only stock changes. Its names and prices are ignored.',
  },
};

function viewStock(request: PageRequest, job: JobDescription, task: StockImport): TaskView {
  const { format } = request;
  const { counts, unknownIds, fileNotes } = task.progress;
  const notes = describeNotes(counts, { unknown_ids: unknownIds }, fileNotes);
  return {
    ...viewFile(request, job, task, counts.applied + counts.unchanged, notes),
    counts: (isDryRun) => listCounts(format, task, isDryRun),
    preview: (state) => {
      const columns = stockColumnsOf(task);
      return html`${renderPreview(request, job, task, notes)}
        ${renderFileSettings(request, job, task, state)}
        ${columns && renderColumns(task.file, (index) => describeUse(columns, index))}`;
    },
  };
}

function describeUse({ indexes }: StockColumns, index: number): string {
  const members = STOCK_MEMBERS.filter((member) => indexes[member].includes(index));
  return members.map((member) => MEMBER_LABELS[member]).join(', ') || 'not used';
}

/** The result of the dry run, and the button that starts the import. */
function renderPreview(
  request: PageRequest, job: JobDescription, task: StockImport, notes: readonly string[],
): Content {
  const { preview, progress: { counts, ignoredColumns } } = task;
  const columns = stockColumnsOf(task);
  if (columns && !columns.isUsable) {
    return html`<div class="notice low" role="status">
      <p>${describeColumns(task, columns)}</p></div>`;
  }
  if (!preview) return renderProblem(job);
  const { format } = request;
  const hasEffect = !preview.isComplete || counts.applied + counts.zeroed > 0;
  return html`${card('effect', 'Summary', html`
      <p>${describeChecked(format, task, preview.isComplete)} Nothing has been changed yet.</p>
      <p>Read as a stock file: only stock changes, and no products are created.</p>
      ${facts(listCounts(format, task, true))}
      ${renderNotes(notes)}
      ${ignoredColumns.length > 0 && html`<p>Columns that are not read: ${
  ignoredColumns.map((name) => shorten(name, COLUMN_NAME_BYTES)).join(', ')}.</p>`}
      ${counts.matched === 0 && counts.unknown > 0 && html`<p>None of the rows matches one of your
        products. To create them, read the file as a product file.</p>`}
      ${!hasEffect ? html`<p><strong>Nothing to import:</strong> ${task.progress.processed === 0
        ? 'the file has no rows.' : 'no stock would change.'}</p>`
    : canStartStock(task) ? renderCommit(request, job, 'Import now')
      : renderRejection(format, task)}`)}
    ${renderZeroed(format, preview.zeroed)}
    ${renderChanges(format, preview.changes)}
    ${renderUnknown(format, preview.unknown)}
    ${renderRejectedLines(format, preview.rejected)}`;
}

/** Why rows cannot be read. */
function describeColumns({ file }: StockImport, columns: StockColumns): string {
  const { ambiguous: [member = 'set'], missing: [pair], indexes } = columns;
  if (!pair) return describeAmbiguous(MEMBER_LABELS[member], indexes[member], file);
  const labels = pair.map((name) => MEMBER_LABELS[name]).join(' or ');
  return describeMissing(`for ${labels}`, file, pair.includes('set') ? ['stock'] : []);
}

/** Why a stocktake cannot start, and what to do. */
function renderRejection(format: Format, { preview, total, settings }: StockImport): Html {
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

function renderZeroed(format: Format, zeroed: StockPreview['zeroed']): Content {
  return renderExamples('Will be set to 0', {
    caption: 'First products that would be set to 0',
    columns: ['SKU', numeric('Current'), numeric('New')],
    rows: zeroed.map(({ sku, stock }) => [
      limit(sku), html`<del>${format.number(stock)}</del>`, html`<ins>${format.number(0)}</ins>`,
    ]),
  }, 'The first products in stock that the file does not list.');
}

function renderChanges(format: Format, changes: StockPreview['changes']): Content {
  return renderExamples('First changes', {
    caption: 'First products whose stock would change',
    columns: ['SKU', numeric('Line'), numeric('Current'), numeric('New')],
    rows: changes.map(({ line, sku, before, after }) => [
      limit(sku), format.number(line), html`<del>${format.number(before)}</del>`,
      html`<ins>${format.number(after)}</ins>`,
    ]),
  });
}

function renderUnknown(format: Format, unknown: StockPreview['unknown']): Content {
  return renderExamples('First unknown products', {
    caption: 'First rows of unknown products', columns: ['SKU or ID', numeric('Line')],
    rows: unknown.map(({ line, sku }) => [limit(sku), format.number(line)]),
  }, 'You have no products with these SKUs or IDs. A stock file creates none.');
}

function listCounts(
  format: Format, { progress: { counts }, settings }: StockImport, isDryRun: boolean,
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

function listFields({ settings, file: { head } }: StockImport): readonly Field[] {
  const { duplicates, isComplete, zeroLimitPercent, reason, source } = settings;
  return [
    duplicatesField('reject_all', duplicates, head),
    {
      name: 'complete', label: 'Products that the file does not list', control: 'checkboxes',
      choices: [{ value: 'true', label: COMPLETE_LABEL }],
      initial: isComplete ? 'true' : '',
    },
    {
      name: 'zero_limit', label: ZERO_LIMIT_LABEL, inputMode: 'decimal', maxLength: 6,
      initial: String(zeroLimitPercent),
      hint: 'For a stocktake. Protects your stock from a file that is cut short.',
    },
    {
      name: 'reason', label: 'Reason', maxLength: REASON_LIMIT_CODE_POINTS, initial: reason ?? '',
      hint: 'Optional. Shown in the stock ledger.',
    },
    {
      name: 'source', label: 'Source', maxLength: SOURCE_LIMIT_CODE_POINTS, initial: source ?? '',
      hint: 'Optional. The system that the numbers come from, such as "till".',
    },
  ];
}

/** Reads the settings form. Adds an error for each invalid field. */
function readSettings(
  form: Form, { file }: StockImport, errors: Map<string, string>,
): StockSettings {
  const readLine = (name: string, { parse }: Validator<string>): string | undefined => {
    const text = form.getTrimmed(name);
    return text === '' ? undefined : takeValue(errors, name, parse(text), undefined);
  };
  const typed = parseTypedWhole(form.get('zero_limit'));
  const percent = 'value' in typed ? STOCK_SYNC_VALIDATORS.zero_limit.parse(typed.value) : typed;
  return {
    map: readColumns(form, STOCK_MEMBERS, file, errors),
    isComplete: form.get('complete') === 'true',
    zeroLimitPercent: takeValue(errors, 'zero_limit', percent, 0),
    reason: readLine('reason', stockReason),
    source: readLine('source', stockSource),
    duplicates: DUPLICATE_LEVELS.find((choice) => choice === form.get('duplicates'))
      ?? 'reject_all',
    ...readCsvFields(form),
  };
}

function renderFileSettings(
  request: PageRequest, job: JobDescription, task: StockImport, state: FormState,
): Html {
  const { file, settings } = task;
  const columns = stockColumnsOf(task);
  const fields = html`${renderFields(listFields(task), state)}
    ${columns && renderColumnFields({
    members: STOCK_MEMBERS, indexes: columns.indexes, map: settings.map, several: ' or ',
    label: (member) => MEMBER_LABELS[member], isRemembered: settings.hasRememberedColumns,
  }, file, state)}
    ${renderFields(listCsvFields(settings, file.head), state)}`;
  return renderSettings(request, job, { cardId: 'reading', heading: 'Import settings', fields });
}
