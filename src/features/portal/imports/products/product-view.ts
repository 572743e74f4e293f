/** Imports of products: their settings, and what the page shows: what would change. */
import { capitalize } from '../../../../domain/text.ts';
import type { ImportMode } from '../../../../store/catalogue-store.ts';
import { type Columns, type Member, MEMBERS } from '../../../../transfer/columns.ts';
import { describeNotes, explainNothing } from '../../../../transfer/import-notes.ts';
import { adviseOn } from '../../../../transfer/import-advice.ts';
import { DEFAULTABLE } from '../../../../transfer/import-row.ts';
import { type Choice, renderFields } from '../../forms/fields.ts';
import type { Form, FormState } from '../../forms/form.ts';
import { card, type Facts, facts, numeric } from '../../html/elements.ts';
import type { Format } from '../../html/format.ts';
import { type Content, html, type Html, shorten } from '../../html/html.ts';
import { COLUMN_NAME_BYTES, DIFFERENCES_SHOWN, PREVIEW_REASON_BYTES } from '../../limits.ts';
import type { PageRequest } from '../../route.ts';
import {
  columnFieldNames, describeAmbiguous, describeMissing, type MemberValues, readColumns,
  renderColumnFields, renderColumns,
} from '../column-fields.ts';
import {
  CSV_FIELD_NAMES, duplicatesField, listCsvFields, readCsvFields, toFields,
} from '../csv-fields.ts';
import { DUPLICATE_ROWS } from '../../../imports/duplicate-rows.ts';
import type { FileJobKind, FileRun, JobDescription, TaskView } from '../job-kind.ts';
import {
  compareProducts, describeChecked, FILE_WORDS, limit, renderCommit, renderExamples, renderNotes,
  renderProblem, renderRejectedLines, renderSettings, viewFile,
} from '../job-view.ts';
import {
  columnsOf, openProducts, previewProducts, type ProductImport, type ProductSettings,
  restartProducts, writeProducts,
} from './product-import.ts';
import type { DryRun } from './product-rows.ts';

const memberLabel = (member: Member): string => (member === 'sku' ? 'SKU' : member);

type ModeChoice = Choice & { readonly value: ImportMode };

const UPSERT_LABEL = 'Create new products and update existing ones';
const MODES: readonly [ModeChoice, ...ModeChoice[]] = [
  { value: 'upsert', label: UPSERT_LABEL },
  { value: 'update', label: 'Update only the columns in the file' },
  { value: 'create', label: 'Create new products only' },
];

/** Other files rarely have the other members: these are found by their own names only. */
const RARE_MEMBERS: ReadonlySet<Member> = new Set(['metadata', 'low_stock', 'archived']);
const CHOSEN_MEMBERS = MEMBERS.filter((member) => !RARE_MEMBERS.has(member));

const WORDS = {
  ...FILE_WORDS, retry: ' Fix the problem, then upload the file again to continue.',
};

export const productKind: FileJobKind<ProductImport> = {
  restart: restartProducts,
  isUsable: (task) => columnsOf(task)?.isUsable !== false,
  canStart: ({ preview }) => preview !== undefined,
  dryRun: previewProducts,
  write: (task, run: FileRun, signal) =>
    run.upload.collectRejected(task, writeProducts(task, run), signal),
  fieldNames: [
    'mode', 'duplicates', ...CSV_FIELD_NAMES, ...columnFieldNames(CHOSEN_MEMBERS),
    ...DEFAULTABLE.map((member) => `default_${member}`),
  ],
  readSettings: (form, task, errors) =>
    ({ ...task, settings: readSettings(form, task, errors) }),
  view: viewProducts,
  file: {
    otherKind: 'stock', otherLabel: 'stock file', open: openProducts,
    reading: 'It is read as a product file: its names and prices are imported, too.',
  },
};

function viewProducts(
  request: PageRequest, job: JobDescription, task: ProductImport,
): TaskView {
  const { format } = request;
  const { counts, counts: { created, updated, unchanged }, notes, fileNotes } = task.progress;
  const sentences = describeNotes(counts, notes, fileNotes);
  const view = viewFile(request, job, task, created + updated + unchanged, sentences);
  return {
    ...view, words: WORDS,
    counts: (isDryRun) => listCounts(format, task, isDryRun),
    preview: (state) => {
      const columns = columnsOf(task);
      return html`${renderPreview(request, job, task, sentences)}
        ${renderFileSettings(request, job, task, state)}
        ${columns && renderColumns(task.file, (index) => describeUse(columns, index))}`;
    },
    result: {
      ...view.result,
      advice: html`${view.result.advice}${renderAdvice(task, false)}`,
      after: html`${renderDuplicates(format, task)}${view.result.after}`,
    },
  };
}

/** The result of the dry run, and the button that starts the import. */
function renderPreview(
  request: PageRequest, job: JobDescription, task: ProductImport, notes: readonly string[],
): Content {
  const { preview, progress: { counts } } = task;
  const columns = columnsOf(task);
  if (columns && !columns.isUsable) {
    return html`<div class="notice low" role="status">
      <p>${describeColumns(task, columns)}</p></div>`;
  }
  if (!preview) return renderProblem(job);
  const { format } = request;
  const { differences, rejected, isComplete } = preview;
  const hasEffect = !isComplete || counts.created + counts.updated > 0;
  return html`${card('effect', 'Summary', html`
      <p>${describeChecked(format, task, isComplete)} Nothing has been changed yet.</p>
      ${columns && columns.missing.length > 0 && html`<p>The file has no column for
        ${columns.missing.join(', ')}. Existing products keep their values.</p>`}
      ${facts(listCounts(format, task, true))}
      ${renderNotes(notes)}
      ${renderAdvice(task, true)}
      ${hasEffect ? renderCommit(request, job, 'Import now')
    : html`<p>${explainNothing(counts) ?? html`<strong>Nothing to import:</strong> no products would
        be created or updated.`}</p>`}`)}
    ${renderDifferences(format, differences)}
    ${renderRejectedLines(format, rejected)}
    ${renderDuplicates(format, task)}`;
}

/** Why rows cannot be read. */
function describeColumns({ file }: ProductImport, columns: Columns): string {
  const { ambiguous: [member], missing, indexes } = columns;
  return member ? describeAmbiguous(memberLabel(member), indexes[member], file)
    : describeMissing(`named ${missing.join(', ')}`, file, missing);
}

function renderDifferences(format: Format, differences: DryRun['differences']): Content {
  const rows = differences.flatMap(({ before, after, line }) => {
    return compareProducts(format, before, after).map((cells) =>
      [limit(after.sku), format.number(line), ...cells]);
  });
  return renderExamples('First changes', {
    caption: 'First products that would be updated',
    columns: ['SKU', numeric('Line'), 'Field', 'Current', 'New'],
    rows: rows.slice(0, DIFFERENCES_SHOWN),
  });
}

function listCounts(format: Format, { progress }: ProductImport, isDryRun: boolean): Facts {
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
function renderDuplicates(format: Format, { progress, settings }: ProductImport): Content {
  const how = settings.duplicates === 'sum' ? ', and their stock is added up' : '';
  return renderExamples('Duplicate rows', {
    caption: 'First rows that override an earlier row',
    columns: [numeric('Line'), 'SKU', numeric('Overrides line')],
    rows: progress.duplicates.first.map(({ line, sku, overrides }) =>
      [format.number(line), limit(sku), format.number(overrides)]),
  }, `These rows have the SKU of an earlier row. The last row with a SKU wins${how}.`);
}

function renderAdvice(task: ProductImport, isDryRun: boolean): Content {
  const advice = advise(task, isDryRun);
  return advice !== undefined && html`<p>${shorten(toFields(advice), PREVIEW_REASON_BYTES)}</p>`;
}

/** Reads the settings form; ignores values that the form does not offer. */
function readSettings(
  form: Form, { file }: ProductImport, errors: Map<string, string>,
): ProductSettings {
  const { value: mode } = MODES.find(({ value }) => value === form.get('mode')) ?? MODES[0];
  // An update creates no products, so it has no fields for defaults.
  const members = mode === 'update' ? [] : DEFAULTABLE;
  const defaults = members.flatMap((member): MemberValues<Member> => {
    const text = form.getTrimmed(`default_${member}`);
    return text === '' ? [] : [[member, text]];
  });
  return {
    mode, map: readColumns(form, CHOSEN_MEMBERS, file, errors), defaults, ...readCsvFields(form),
    duplicates: DUPLICATE_ROWS.find((choice) => choice === form.get('duplicates')),
  };
}

const defaultLabel = (member: string): string => `Default ${member} for new products`;

/** Advice on rejected rows, using the form's labels; undefined if no remedy fits most rows. */
function advise(
  { progress, file: { head } }: ProductImport, isDryRun: boolean,
): string | undefined {
  const sentence = (remedy: string): string => isDryRun
    ? `${capitalize(remedy)} below.`
    : `Upload the file again: ${remedy}.`;
  return progress.commonCause && adviseOn(progress.commonCause, {
    giveDefaults: (values) => sentence(values.map((pair) => {
      const [member = '', value = ''] = pair.split(':');
      return `enter ${value} as "${defaultLabel(member)}"`;
    }).join(' and ')),
    nameColumns: (members) => sentence(`choose the column for ${members.join(' and for ')}`),
    change: sentence(`choose "${UPSERT_LABEL}"`),
    create: sentence(`choose "${UPSERT_LABEL}"`),
    rename: 'To change a SKU, edit the product.',
  }, { format: head.format, ignoredColumns: progress.ignoredColumns });
}

function renderFileSettings(
  request: PageRequest, job: JobDescription, task: ProductImport, state: FormState,
): Html {
  const { file, settings } = task;
  const columns = columnsOf(task);
  const { mode, map, defaults, hasRememberedColumns: isRemembered } = settings;
  const defaultFields = DEFAULTABLE.map((member) => ({
    name: `default_${member}`, label: defaultLabel(member),
    initial: new Map(defaults).get(member) ?? '',
  }));
  const fields = html`${renderFields([{
    name: 'mode', label: 'What to import', control: 'select', initial: mode, choices: MODES,
  }, duplicatesField('reject', settings.duplicates ?? 'reject', file.head)], state)}
    ${columns && renderColumnFields({
    members: CHOSEN_MEMBERS, indexes: columns.indexes, map, label: memberLabel, isRemembered,
    several: columns.ambiguous.length > 0 ? ' or ' : ', then ',
  }, file, state)}
    ${columns && mode !== 'update' && html`<div class="grid">
      ${renderFields(defaultFields, state)}</div>`}
    ${renderFields(listCsvFields(settings, file.head), state)}`;
  return renderSettings(request, job, { cardId: 'reading', heading: 'Import settings', fields });
}

/** How a product file's column is used. */
function describeUse({ indexes, pairs, used, productId }: Columns, index: number): string {
  const members = MEMBERS.filter((member) => indexes[member].includes(index));
  const pair = pairs.get(index);
  if (pair !== undefined) return `metadata: ${shorten(pair, COLUMN_NAME_BYTES)}`;
  if (members.length > 0) return members.map(memberLabel).join(', ');
  if (index === productId) return 'product ID';
  return used.has(index) ? 'groups rows' : 'not used';
}
