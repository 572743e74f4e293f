/** What the page of a revert shows: what goes back, and what is left alone and why. */
import { capitalize } from '../../../../domain/text.ts';
import { REVERT_CONFLICTS, type RevertedProduct } from '../../../../store/revert-store.ts';
import { renderFields } from '../../forms/fields.ts';
import type { FormState } from '../../forms/form.ts';
import { card, type Facts, facts } from '../../html/elements.ts';
import type { Format } from '../../html/format.ts';
import { type Content, html, type Html, shorten } from '../../html/html.ts';
import { DIFFERENCES_SHOWN, KEY_NAME_BYTES } from '../../limits.ts';
import type { PageRequest } from '../../route.ts';
import type { JobDescription, JobKind, JobWords, TaskView } from '../job-kind.ts';
import {
  compareProducts, limit, renderCommit, renderExamples, renderProblem, renderSettings,
  viewProductsTask,
} from '../job-view.ts';
import {
  canStartRevert, previewRevert, restartRevert, type RevertTask, writeRevert,
} from './revert-task.ts';

const WORDS: JobWords = {
  noun: 'revert',
  phases: {
    checking: ['Preview of the revert:', 'Checking'],
    ready: ['Preview of the revert:', 'Ready to revert'],
    importing: ['Reverting:', 'Reverting'], done: ['Reverted:', 'Reverted'],
    cancelled: ['Cancelled revert:', 'Cancelled'], failed: ['Failed revert:', 'Failed'],
  },
  checking: 'Checking the products',
  importing: 'Reverting',
  discard: 'Do not revert',
  home: '/import',
  kept: 'Reverted products stay reverted. Revert again to do the rest.',
};

/** The form field of `isForced`. */
const FORCE_FIELD = 'force';

export const revertKind: JobKind<RevertTask> = {
  restart: restartRevert,
  isUsable: () => true,
  canStart: canStartRevert,
  dryRun: previewRevert,
  write: writeRevert,
  fieldNames: [FORCE_FIELD],
  readSettings: (form, task) => ({ ...task, isForced: form.get(FORCE_FIELD) === 'true' }),
  view: viewRevert,
};

function viewRevert(request: PageRequest, job: JobDescription, task: RevertTask): TaskView {
  const { format } = request;
  return {
    ...viewProductsTask(request, task, {
      words: WORDS, rejected: task.progress.counts.conflict,
    }),
    name: task.subject.name,
    counts: (isDryRun) => listCounts(format, task, isDryRun),
    preview: (state) => html`${renderPreview(request, job, task)}
      ${renderForce(request, job, task, state)}`,
  };
}

/** The result of the dry run, and the button that starts the revert. */
function renderPreview(request: PageRequest, job: JobDescription, task: RevertTask): Html {
  const { format, link } = request;
  const { preview, subject: { name, path }, progress: { processed } } = task;
  if (!preview) return renderProblem(job);
  return html`${card('effect', 'Summary', html`
      <p><a href="${link(path)}"><bdi>${name}</bdi></a> changed
        ${format.countProducts(processed)}. Nothing has been reverted yet.</p>
      ${facts(listCounts(format, task, true))}
      ${canStartRevert(task) ? renderCommit(request, job, 'Revert now')
    : html`<p><strong>Nothing to revert:</strong> no product would change.</p>`}`)}
    ${renderChanges(format, preview.changes)}
    ${renderConflicts(format, preview.conflicts)}`;
}

function renderForce(
  request: PageRequest, job: JobDescription, { isForced }: RevertTask, state: FormState,
): Html {
  const label = 'Also revert products that changed since; later stock movements are kept';
  const fields = renderFields([{
    name: FORCE_FIELD, label: 'Products that changed since', control: 'checkboxes',
    choices: [{ value: 'true', label }], initial: isForced ? 'true' : '',
  }], state);
  return renderSettings(request, job, { cardId: 'settings', heading: 'Revert settings', fields });
}

function renderChanges(format: Format, changes: readonly RevertedProduct[]): Content {
  const rows = changes.flatMap(({ sku, status, before, after }): Content[][] => {
    if (status === 'deleted') return [[limit(sku), 'product', 'exists', 'deleted']];
    if (!before || !after) return [[limit(sku ?? after?.sku), 'product', 'deleted', 'exists']];
    return compareProducts(format, before, after).map((cells) => [limit(before.sku), ...cells]);
  });
  return renderExamples('First changes', {
    caption: 'First products that would go back',
    columns: ['SKU', 'Field', 'Current', 'After the revert'],
    rows: rows.slice(0, DIFFERENCES_SHOWN),
  });
}

function renderConflicts(
  format: Format, conflicts: NonNullable<RevertTask['preview']>['conflicts'],
): Content {
  return renderExamples('Left alone', {
    caption: 'First products that would be left alone', columns: ['SKU', 'Reason'],
    rows: conflicts.map(({ sku, conflict = 'changed', since }) => [
      limit(sku),
      html`${capitalize(REVERT_CONFLICTS[conflict])}${since && html`, by <bdi>${
        shorten(since.by, KEY_NAME_BYTES)}</bdi>, ${format.timeElement(since.at)}`}${
        conflict === 'sku_taken' && '. Rename or delete that product, then revert again.'}`,
    ]),
  }, 'The first products that would keep their current state.');
}

function listCounts(format: Format, { progress }: RevertTask, isDryRun: boolean): Facts {
  const { restored, deleted, recreated, unchanged, conflict } = progress.counts;
  return [
    [isDryRun ? 'Will be restored' : 'Restored', format.number(restored)],
    [isDryRun ? 'Will be deleted' : 'Deleted', format.number(deleted)],
    [isDryRun ? 'Will be created again' : 'Created again', format.number(recreated)],
    ['Unchanged', format.number(unchanged)],
    [isDryRun ? 'Will be left alone' : 'Left alone', format.number(conflict)],
  ];
}
