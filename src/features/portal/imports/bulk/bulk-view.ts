/** What the page of a bulk edit shows: which products change, and what it asks before it starts. */
import { CATEGORY_LIMIT_CODE_POINTS } from '../../../../domain/limits.ts';
import { type Field, postForm, renderFields } from '../../forms/fields.ts';
import {
  type FieldErrors, type Form, type FormState, hiddenField, takeValue,
} from '../../forms/form.ts';
import { card, type Facts, facts, numeric, table } from '../../html/elements.ts';
import type { Format } from '../../html/format.ts';
import { type Content, html, type Html } from '../../html/html.ts';
import type { PageRequest } from '../../route.ts';
import type { JobDescription, JobKind, JobWords, TaskView } from '../job-kind.ts';
import {
  limit, renderCommit, renderProblem, renderSettings, viewProductsTask,
} from '../job-view.ts';
import {
  type BulkTask, canStartBulk, categoryValidator, previewEdit, restartBulk, writeEdit,
} from './bulk-task.ts';

/** Confirms a deletion, beside the number of products. */
const DELETE = 'DELETE';
const CONFIRMATION = 'confirmation';
const CATEGORY_FIELD = 'category';

const VERBS = {
  category: 'change the category of', archive: 'archive', restore: 'restore', delete: 'delete',
} as const;
const SAME = {
  category: 'all of these products have this category.', archive: 'all are archived.',
  restore: 'none of these products are archived.', delete: '',
} as const;
const START = { category: 'Change', archive: 'Archive', restore: 'Restore' } as const;

const WORDS: JobWords = {
  noun: 'bulk edit',
  phases: {
    checking: ['Preview:', 'Checking'], ready: ['Preview:', 'Waiting for you'],
    importing: ['Running:', 'Running'], done: ['Done:', 'Done'],
    cancelled: ['Cancelled:', 'Cancelled'], failed: ['Failed:', 'Failed'],
  },
  checking: 'Finding the products',
  importing: 'Changing the products',
  discard: 'Cancel',
  home: '/products',
  kept: 'What was changed stays changed.',
};
const LEFT_REASON = ', because someone else changed or deleted them since the preview';

export const bulkKind: JobKind<BulkTask> = {
  restart: restartBulk,
  isUsable: ({ change }) => change.mode !== 'category' || change.category !== undefined,
  canStart: canStartBulk,
  dryRun: previewEdit,
  write: writeEdit,
  fieldNames: [CATEGORY_FIELD],
  readSettings,
  listFields,
  validateStart: validateConfirmation,
  view: viewBulk,
};

/** Reads the category. Adds an error if it is invalid. */
function readSettings(form: Form, task: BulkTask, errors: Map<string, string>): BulkTask {
  if (!form.has(CATEGORY_FIELD)) return task;
  const parsed = categoryValidator.parse(form.getTrimmed(CATEGORY_FIELD));
  const change = {
    mode: 'category', category: takeValue(errors, CATEGORY_FIELD, parsed, ''),
  } as const;
  return { ...task, change };
}

/** Whether the seller has typed what a deletion requires. */
function validateConfirmation(form: Form, { change, total }: BulkTask): FieldErrors {
  const typed = form.getTrimmed(CONFIRMATION);
  const isValid = change.mode !== 'delete' || typed === DELETE || typed === String(total);
  return new Map(isValid ? []
    : [[CONFIRMATION, `Nothing was deleted. Enter ${total} or ${DELETE}.`]]);
}

function listFields(task: BulkTask): readonly Field[] {
  if (task.change.mode === 'delete') return [describeConfirmation(task)];
  return task.change.mode === 'category' ? [describeCategory(task)] : [];
}

function viewBulk(request: PageRequest, job: JobDescription, task: BulkTask): TaskView {
  const { format } = request;
  const { change, progress: { counts }, total } = task;
  const products = total === 0 ? 'products' : format.countProducts(total);
  return {
    ...viewProductsTask(request, task, {
      words: WORDS, rejected: counts.conflicts, reason: LEFT_REASON,
    }),
    name: `${VERBS[change.mode]} ${products}`,
    counts: (isDryRun) => listCounts(format, task, isDryRun),
    preview: (state) => html`${renderPreview(request, job, task, state)}
      ${change.mode === 'category' && renderCategory(request, job, task, state)}`,
  };
}

function renderPreview(
  request: PageRequest, job: JobDescription, task: BulkTask, state: FormState,
): Content {
  const { format } = request;
  const { preview, change, total } = task;
  if (job.problem !== undefined) {
    return html`${renderProblem(job)}
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

function describeEffect({ link }: PageRequest, { change }: BulkTask, count: string): Html {
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
  format: Format, { preview, change, progress }: BulkTask,
): Content {
  const others = preview?.others ?? 0;
  if (others === 0 || change.mode !== 'category') return undefined;
  const all = format.number(others + progress.counts.updated + progress.counts.unchanged);
  return html`<div class="notice low"><p>${format.number(others)} other
    ${others === 1 ? 'product has' : 'products have'} this category already: ${all} will share it.
    Only a revert separates them again.</p></div>`;
}

function renderProducts(
  format: Format, { total, progress }: BulkTask,
  products: NonNullable<BulkTask['preview']>['products'],
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

function renderCategory(
  request: PageRequest, job: JobDescription, task: BulkTask, state: FormState,
): Html {
  return renderSettings(request, job, {
    cardId: 'settings', heading: 'New category',
    fields: renderFields([describeCategory(task)], state),
    ...!task.preview && { button: html`<button class="primary">Preview</button>` },
  });
}

function describeCategory({ change, suggestions }: BulkTask): Field {
  return {
    name: CATEGORY_FIELD, label: 'Category', isRequired: true, suggestions,
    maxLength: 2 * CATEGORY_LIMIT_CODE_POINTS, // in UTF-16 code units
    initial: change.mode === 'category' ? change.category ?? '' : '',
  };
}

function describeConfirmation({ total }: BulkTask): Field {
  return { name: CONFIRMATION, label: `Type ${total} or ${DELETE} to confirm`, isRequired: true };
}

function listCounts(
  format: Format, { change, progress }: BulkTask, isDryRun: boolean,
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
