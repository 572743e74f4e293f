/** What the page of a revert shows: what goes back, and what is left alone and why. */
import type { RevertConflict, RevertedProduct } from '../../../../store/revert-store.ts';
import { postForm, renderFields } from '../../forms/fields.ts';
import { type FormState, hiddenField } from '../../forms/form.ts';
import { card, type Facts, facts, table } from '../../html/elements.ts';
import type { Format } from '../../html/format.ts';
import { type Content, html, type Html, shorten } from '../../html/html.ts';
import { DIFFERENCES_SHOWN, KEY_NAME_BYTES } from '../../limits.ts';
import { renderRevertButton } from '../../records/import-record.ts';
import type { PageRequest } from '../../route.ts';
import type { JobDescription } from '../job-description.ts';
import {
  compareProducts, type JobWords, limit, renderCommit, renderRecordLink, type TaskView,
} from '../job-view.ts';
import { canStartRevert, FORCE_FIELD, type RevertDescription } from './revert-task.ts';

const WORDS: JobWords = {
  phases: {
    checking: ['Preview of the revert:', html`<span class="tag">Checking</span>`],
    ready: ['Preview of the revert:', html`<span class="tag low">Ready to revert</span>`],
    importing: ['Reverting:', html`<span class="tag">Reverting</span>`],
    done: ['Reverted:', html`<span class="tag good">Reverted</span>`],
    cancelled: ['Cancelled revert:', html`<span class="tag low">Cancelled</span>`],
    failed: ['Failed revert:', html`<span class="tag bad">Failed</span>`],
  },
  checking: 'Checking the products',
  importing: 'Reverting',
  leave: 'You can leave this page; the revert continues. If the server stops, the revert ends, and '
    + 'reverted products stay reverted. Revert again to do the rest.',
  discard: 'Do not revert',
  cancel: 'Cancel revert',
};

const CONFLICTS: Readonly<Record<RevertConflict, string>> = {
  moved: 'Only its stock changed since',
  changed: 'Changed since',
  deleted: 'Deleted since',
  sku_taken: 'Another product has its SKU. Rename or delete that product, then revert again.',
  history_pruned: 'Its earlier state was removed with old history.',
};

const PERCENT = 100;

export function viewRevert(
  request: PageRequest, job: JobDescription, task: RevertDescription,
): TaskView {
  const { format } = request;
  const { subject: { sellerId, name }, progress: { products, counts, importId }, total } = task;
  return {
    words: WORDS, name, rows: products, rejected: counts.conflict,
    percent: total === 0 ? 0 : Math.min(PERCENT, Math.floor(PERCENT * products / total)),
    extent: `${format.countProducts(products)} so far.`,
    counts: (isDryRun) => listCounts(format, task, isDryRun),
    preview: (state) => html`${renderPreview(request, job, task)}
      ${renderForce(request, job, task, state)}`,
    result: () => renderResult(request, job, task),
    next: () => importId !== undefined
      && renderRevertButton(request, { sellerId, id: importId, kind: 'revert' }),
  };
}

/** The result of the dry run, and the button that starts the revert. */
function renderPreview(request: PageRequest, job: JobDescription, task: RevertDescription): Html {
  const { format, link } = request;
  const { preview, subject: { name, path }, progress: { products } } = task;
  if (!preview) {
    return html`<div class="notice bad" role="alert"><p>${job.problem}</p>
      <p>Nothing was changed.</p></div>`;
  }
  return html`${card('effect', 'Summary', html`
      <p><a href="${link(path)}"><bdi>${name}</bdi></a> changed
        ${format.countProducts(products)}. Nothing has been reverted yet.</p>
      ${facts(listCounts(format, task, true))}
      ${canStartRevert(task) ? renderCommit(request, job, 'Revert now')
    : html`<p><strong>Nothing to revert:</strong> no product would change.</p>`}`)}
    ${preview.changes.length > 0 && renderChanges(format, preview.changes)}
    ${preview.conflicts.length > 0 && renderConflicts(format, preview.conflicts)}`;
}

function renderForce(
  request: PageRequest, { id }: JobDescription, { kind, isForced }: RevertDescription,
  state: FormState,
): Html {
  const label = 'Also revert products that changed since; later stock movements are kept';
  const content = html`${hiddenField('kind', kind)}${renderFields([{
    name: FORCE_FIELD, label: 'Products that changed since', control: 'checkboxes',
    choices: [{ value: 'true', label }], initial: isForced ? 'true' : '',
  }], state)}
    <button>Update preview</button>`;
  return card('settings', 'Revert settings',
    postForm(request, request.link(`/import/${id}`), content));
}

function renderChanges(format: Format, changes: readonly RevertedProduct[]): Html {
  const rows = changes.flatMap(({ sku, status, before, after }): Content[][] => {
    if (status === 'deleted') return [[limit(sku), 'product', 'exists', 'deleted']];
    if (!before || !after) return [[limit(sku ?? after?.sku), 'product', 'deleted', 'exists']];
    return compareProducts(format, before, after).map((cells) => [limit(before.sku), ...cells]);
  });
  return html`<h2>First changes</h2>${table({
    caption: 'First products that would go back',
    columns: ['SKU', 'Field', 'Current', 'After the revert'],
    rows: rows.slice(0, DIFFERENCES_SHOWN),
  })}`;
}

function renderConflicts(
  format: Format, conflicts: NonNullable<RevertDescription['preview']>['conflicts'],
): Html {
  return html`<h2>Left alone</h2>
    <p>The first products that would keep their current state.</p>
    ${table({
    caption: 'First products that would be left alone', columns: ['SKU', 'Reason'],
    rows: conflicts.map(({ sku, conflict = 'changed', since }) => [
      limit(sku),
      html`${CONFLICTS[conflict]}${since && html`, by <bdi>${
        shorten(since.by, KEY_NAME_BYTES)}</bdi>, ${format.timeElement(since.at)}`}`,
    ]),
  })}`;
}

/** The outcome of the revert, with its own record. */
function renderResult(request: PageRequest, job: JobDescription, task: RevertDescription): Html {
  const { format } = request;
  const { phase, problem } = job;
  const { products, counts, importId } = task.progress;
  const done = format.countProducts(products);
  const isSuccess = phase === 'done' && counts.conflict === 0;
  const result: Content = isSuccess ? html`Revert complete: ${done}.`
    : phase === 'done' ? html`Revert complete: ${done}; ${format.number(counts.conflict)} of them
      left alone.`
    : phase === 'cancelled' ? html`Revert cancelled after ${done}. They stay reverted.`
      : html`The revert failed after ${done}: ${problem} Reverted products stay reverted.`;
  return html`<div class="notice${isSuccess ? '' : ' low'}" role="status"><p>${result}</p></div>
    <div class="card">${facts(listCounts(format, task, false))}
      ${renderRecordLink(request, importId)}</div>`;
}

function listCounts(format: Format, { progress }: RevertDescription, isDryRun: boolean): Facts {
  const { restored, deleted, recreated, unchanged, conflict } = progress.counts;
  return [
    [isDryRun ? 'Will be restored' : 'Restored', format.number(restored)],
    [isDryRun ? 'Will be deleted' : 'Deleted', format.number(deleted)],
    [isDryRun ? 'Will be created again' : 'Created again', format.number(recreated)],
    ['Unchanged', format.number(unchanged)],
    [isDryRun ? 'Will be left alone' : 'Left alone', format.number(conflict)],
  ];
}
