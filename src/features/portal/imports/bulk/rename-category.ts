/**
 * Renames a category: a bulk edit of all products that have it. A new name that another category
 * has merges the two, which is previewed first.
 */
import { CATEGORY_LIMIT_CODE_POINTS } from '../../../../domain/limits.ts';
import { lineValidator } from '../../../../domain/validation.ts';
import { AppError } from '../../../../domain/error.ts';
import type { Reply } from '../../../../http/response/reply.ts';
import type { Field } from '../../forms/fields.ts';
import { defineForm, renderFormPage } from '../../forms/form-page.ts';
import { type FormState, hiddenField, nonceField, takeValue } from '../../forms/form.ts';
import { html } from '../../html/html.ts';
import { redirect } from '../../html/page.ts';
import type { PageRequest, Portal } from '../../route.ts';
import { redirectToJob, toImporter } from '../import-page.ts';
import { previewBulk } from './bulk-page.ts';

const category = lineValidator(CATEGORY_LIMIT_CODE_POINTS);
const FIELDS: readonly Field[] = [
  { name: 'from', label: 'Category' },
  {
    name: 'to', label: 'New name', isRequired: true,
    maxLength: 2 * CATEGORY_LIMIT_CODE_POINTS, // in UTF-16 code units, up to two per code point
  },
];

interface Renaming {
  readonly from: string;
  readonly to: string;
}

/** GET /portal/categories/rename: 200, 404. POST: 303, 422, 503 */
export const renameForm = defineForm<Renaming>({
  fields: FIELDS,
  initial: ({ query }) => ({ from: query.get('category'), to: query.get('category') }),
  render,
  read(form, errors) {
    const from = form.get('from');
    const to = takeValue(errors, 'to', category.parse(form.getTrimmed('to')), '');
    if (to === from) errors.set('to', 'The category has this name. Enter another one.');
    return { from, to };
  },
  save,
});

async function render(
  request: PageRequest, portal: Portal, state: FormState,
): Promise<Reply> {
  const { format } = request;
  const from = state.form.get('from');
  const products = await countProducts(request, portal, from);
  if (products === 0) throw new AppError('not_found', 'You have no products in this category.');
  return renderFormPage(request, portal, {
    title: 'Rename category', action: '/categories/rename', cancel: '/categories',
    submit: 'Rename', fields: FIELDS.slice(1),
    hidden: html`${nonceField()}${hiddenField('from', from)}`,
    before: html`<p><strong><bdi>${from}</bdi></strong> has ${format.countProducts(products)},
      which will get the new name. If another category has this name already, the two will be
      merged; you see a preview first.</p>`,
  }, state);
}

/** Starts at once, unless the two categories will be merged or the preview takes long. */
async function save(
  { from, to }: Renaming, request: PageRequest, portal: Portal,
): Promise<Reply> {
  // After a double click, the products already have the new name.
  if (await countProducts(request, portal, from) === 0) {
    return redirect(request.link('/categories?done=gone'));
  }
  const job = await previewBulk(request, portal, {
    selection: { filter: { category: from, archived: 'any' } },
    change: { mode: 'category', category: to },
  });
  const reply = await redirectToJob(request, job);
  const { task, phase, revision } = job.state;
  const isMerge = task.kind !== 'bulk' || task.preview?.others !== 0;
  if (phase !== 'ready' || isMerge) return reply;
  await job.commit(revision, toImporter(request));
  return redirectToJob(request, job);
}

async function countProducts(
  { account: { sellerId }, position }: PageRequest, { store }: Portal, name: string,
): Promise<number> {
  if (name === '') return 0;
  const [first] = await store.listCategories(sellerId, { from: name, limit: 1 }, position);
  return first?.category === name ? first.products + first.archived : 0;
}
