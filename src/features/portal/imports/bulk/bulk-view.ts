/** What the page of a bulk edit shows: which products change, and what it asks before it starts. */
import { CATEGORY_LIMIT_CODE_POINTS } from '../../../../domain/limits.ts';
import { lineValidator } from '../../../../domain/validation.ts';
import { type Field, postForm, renderFields } from '../../forms/fields.ts';
import {
  type FieldErrors, type Form, type FormState, hiddenField, takeValue,
} from '../../forms/form.ts';
import { card, type Facts, facts, numeric, table } from '../../html/elements.ts';
import type { Format } from '../../html/format.ts';
import { type Content, html, type Html } from '../../html/html.ts';
import { renderRevertButton } from '../../records/import-record.ts';
import type { PageRequest } from '../../route.ts';
import type { JobDescription } from '../job-description.ts';
import {
  type JobWords, limit, renderCommit, renderRecordLink, type TaskView,
} from '../job-view.ts';
import { type BulkDescription, canStartBulk } from './bulk-task.ts';

const PERCENT = 100;
const category = lineValidator(CATEGORY_LIMIT_CODE_POINTS);
/** Confirms a deletion, beside the number of products. */
const DELETE = 'DELETE';
const CONFIRMATION = 'confirmation';
export const CATEGORY_FIELD = 'category';

const VERBS = {
  category: 'change the category of', archive: 'archive', restore: 'restore', delete: 'delete',
} as const;
const SAME = {
  category: 'all of these products have this category.', archive: 'all are archived.',
  restore: 'none of these products are archived.', delete: '',
} as const;
const START = { category: 'Change', archive: 'Archive', restore: 'Restore' } as const;

const WORDS: JobWords = {
  phases: {
    checking: ['Preview:', html`<span class="tag">Checking</span>`],
    ready: ['Preview:', html`<span class="tag low">Waiting for you</span>`],
    importing: ['Running:', html`<span class="tag">Running</span>`],
    done: ['Done:', html`<span class="tag good">Done</span>`],
    cancelled: ['Cancelled:', html`<span class="tag low">Cancelled</span>`],
    failed: ['Failed:', html`<span class="tag bad">Failed</span>`],
  },
  checking: 'Finding the products',
  importing: 'Changing the products',
  leave: 'You can leave this page; the bulk edit continues. If the server stops, it ends, and what '
    + 'was changed stays changed.',
  discard: 'Cancel',
  cancel: 'Cancel bulk edit',
};

/** Fields whose errors the page shows. */
export function listBulkFields(task: BulkDescription): readonly Field[] {
  if (task.change.mode === 'delete') return [describeConfirmation(task)];
  return task.change.mode === 'category' ? [describeCategory(task)] : [];
}

/** The category of the form. Adds an error if it is invalid. */
export function readCategory(form: Form, errors: Map<string, string>): string {
  const parsed = category.parse(form.getTrimmed(CATEGORY_FIELD));
  return takeValue(errors, CATEGORY_FIELD, parsed, '');
}

/** Whether the seller has typed what a deletion requires. */
export function validateConfirmation({ change, total }: BulkDescription, form: Form): FieldErrors {
  const typed = form.getTrimmed(CONFIRMATION);
  const isValid = change.mode !== 'delete' || typed === DELETE || typed === String(total);
  return new Map(isValid ? []
    : [[CONFIRMATION, `Nothing was deleted. Enter ${total} or ${DELETE}.`]]);
}

export function viewBulk(
  request: PageRequest, job: JobDescription, task: BulkDescription,
): TaskView {
  const { format, account: { sellerId } } = request;
  const { change, progress, total } = task;
  const { counts, importId } = progress;
  const products = total === 0 ? 'products' : format.countProducts(total);
  return {
    words: WORDS, rows: progress.products, rejected: counts.conflicts,
    name: `${VERBS[change.mode]} ${products}`,
    percent: total === 0 ? 0 : Math.min(PERCENT, Math.floor(PERCENT * progress.products / total)),
    extent: `${format.countProducts(progress.products)} so far.`,
    counts: (isDryRun) => listCounts(format, task, isDryRun),
    preview: (state) => html`${renderPreview(request, job, task, state)}
      ${change.mode === 'category' && renderSettings(request, job, task, state)}`,
    result: () => renderResult(request, job, task),
    next: () => importId !== undefined
      && renderRevertButton(request, { sellerId, id: importId, kind: 'bulk' }),
  };
}

function renderPreview(
  request: PageRequest, job: JobDescription, task: BulkDescription, state: FormState,
): Content {
  const { format } = request;
  const { preview, change, total } = task;
  if (job.problem !== undefined) {
    return html`<div class="notice bad" role="alert"><p>${job.problem}</p>
      <p>Nothing was changed.</p></div>
      ${postForm(request, request.link(`/import/${job.id}`), html`${hiddenField('kind', task.kind)}
        <button>Try again</button>`)}`;
  }
  if (!preview) return undefined; // the category is not chosen yet
  if (!canStartBulk(task)) {
    return html`<p><strong>Nothing to change:</strong> ${total === 0 ? 'these products no longer '
      + 'exist.' : SAME[change.mode]}</p>`;
  }
  const count = format.countProducts(total - task.progress.counts.unchanged);
  const button = change.mode === 'delete'
    ? renderCommit(request, job, `Delete ${count}`, {
      fields: renderFields([describeConfirmation(task)], state), className: 'danger',
    })
    : renderCommit(request, job, `${START[change.mode]} ${count}`);
  return html`${card('effect', 'Summary', html`<p>${describeEffect(request, task, count)}</p>
      ${renderMerge(format, task)}${facts(listCounts(format, task, true))}${button}`)}
    <h2>First products</h2>${renderProducts(format, task, preview.products)}`;
}

function describeEffect({ link }: PageRequest, { change }: BulkDescription, count: string): Html {
  switch (change.mode) {
    case 'category': return html`${count} will get the category <strong><bdi>${
      limit(change.category)}</bdi></strong>. Nothing has been changed yet.`;
    case 'archive': return html`${count} will be archived: hidden from lists until you restore
      them.`;
    case 'restore': return html`${count} will appear in lists again.`;
    case 'delete': return html`${count} will be deleted. To get them back, revert the deletion; its
      record is under <a href="${link('/imports')}">Imports</a>.`;
  }
}

/** If other products have the category already, the two categories become one. */
function renderMerge(
  format: Format, { preview, change, progress }: BulkDescription,
): Content {
  const others = preview?.others ?? 0;
  if (others === 0 || change.mode !== 'category') return undefined;
  const all = format.number(others + progress.counts.updated + progress.counts.unchanged);
  return html`<div class="notice low"><p>${format.number(others)} other
    ${others === 1 ? 'product has' : 'products have'} this category already: ${all} will share it.
    Only a revert separates them again.</p></div>`;
}

function renderProducts(
  format: Format, { total, progress }: BulkDescription,
  products: NonNullable<BulkDescription['preview']>['products'],
): Html {
  const changed = total - progress.counts.unchanged;
  return html`${changed > products.length && html`<p>The first ${format.number(products.length)} of
      ${format.number(changed)}, oldest first.</p>`}
    ${table({
    caption: 'First products that would change',
    columns: ['SKU', 'Name', 'Category', numeric('Stock')],
    rows: products.map(({ sku, name, category: now, stock }) =>
      [limit(sku), limit(name), limit(now), format.number(stock)]),
  })}`;
}

function renderSettings(
  request: PageRequest, { id }: JobDescription, task: BulkDescription, state: FormState,
): Html {
  const content = html`${hiddenField('kind', task.kind)}
    ${renderFields([describeCategory(task)], state)}<button${
  !task.preview && html` class="primary"`}>${task.preview ? 'Update preview' : 'Preview'}</button>`;
  return card('settings', 'New category',
    postForm(request, request.link(`/import/${id}`), content));
}

function describeCategory({ change, suggestions }: BulkDescription): Field {
  return {
    name: CATEGORY_FIELD, label: 'Category', isRequired: true, suggestions,
    maxLength: 2 * CATEGORY_LIMIT_CODE_POINTS, // in UTF-16 code units
    initial: change.mode === 'category' ? change.category ?? '' : '',
  };
}

function describeConfirmation({ total }: BulkDescription): Field {
  return { name: CONFIRMATION, label: `Type ${total} or ${DELETE} to confirm`, isRequired: true };
}

function renderResult(request: PageRequest, job: JobDescription, task: BulkDescription): Html {
  const { format } = request;
  const { phase, problem } = job;
  const { products, counts, importId } = task.progress;
  const done = format.countProducts(products);
  const isSuccess = phase === 'done' && counts.conflicts === 0;
  const left = `${format.number(counts.conflicts)} of them left alone, because someone else `
    + 'changed or deleted them since the preview';
  const result: Content = isSuccess ? `Complete: ${done}.`
    : phase === 'done' ? `Complete: ${done}; ${left}.`
    : phase === 'cancelled' ? `Cancelled after ${done}. What was changed stays changed.`
      : `Failed after ${done}: ${problem ?? ''} What was changed stays changed.`;
  return html`<div class="notice${isSuccess ? '' : ' low'}" role="status"><p>${result}</p></div>
    <div class="card">${facts(listCounts(format, task, false))}
      ${renderRecordLink(request, importId)}</div>`;
}

function listCounts(
  format: Format, { change, progress }: BulkDescription, isDryRun: boolean,
): Facts {
  const { updated, deleted, unchanged, conflicts } = progress.counts;
  const changed: Facts[number] = change.mode === 'delete'
    ? [isDryRun ? 'Will be deleted' : 'Deleted', format.number(deleted)]
    : [isDryRun ? 'Will be changed' : 'Changed', format.number(updated)];
  return [
    changed,
    ...change.mode !== 'delete' ? [['Unchanged', format.number(unchanged)] as const] : [],
    ...isDryRun ? [] : [['Left alone', format.number(conflicts)] as const],
  ];
}
