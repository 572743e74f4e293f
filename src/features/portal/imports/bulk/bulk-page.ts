/**
 * Starts bulk edits, whose previews continue on the pages of their jobs: what a seller chose for
 * the selected products of the list, and renaming a category, which edits all products that have
 * it. A new name that another category has merges the two, which is previewed first.
 */
import { CATEGORY_LIMIT_CODE_POINTS } from '../../../../domain/limits.ts';
import { AppError, undefinedIf } from '../../../../domain/error.ts';
import { formatProductId } from '../../../../domain/id.ts';
import type { Field } from '../../forms/fields.ts';
import { defineFormPage } from '../../forms/form-page.ts';
import { hiddenField, nonceField, takeValue } from '../../forms/form.ts';
import { html } from '../../html/html.ts';
import { redirect } from '../../html/page.ts';
import { CATEGORIES_SUGGESTED } from '../../limits.ts';
import { listFields, listPath, readList } from '../../products/product-search.ts';
import { readSelection } from '../../products/product-selection.ts';
import type { PageRequest, Portal, Submit } from '../../route.ts';
import { getImportJobs, redirectToJob, toImporter } from '../import-page.ts';
import { categoryValidator, countInCategory, restartBulk } from './bulk-task.ts';

const FIELDS: readonly Field[] = [
  { name: 'from', label: 'Category' },
  {
    name: 'to', label: 'New name', isRequired: true,
    maxLength: 2 * CATEGORY_LIMIT_CODE_POINTS, // in UTF-16 code units, up to two per code point
  },
];

/** POST /portal/products/selection: 303, 400, 422, 503 */
export const actOnSelection: Submit = async (request, portal, form) => {
  const { link } = request;
  const list = readList(request, form);
  const action = form.get('action');
  const isEdit = action === 'edit';
  const selection = await readSelection(request, portal, form, isEdit);
  if (isEdit) {
    const query = 'ids' in selection
      ? [...selection.ids.map((id) => ['id', formatProductId(request.account.sellerId, id)]),
        ...listFields(list)]
      : [...list].filter(([name]) => name !== 'cursor');
    return redirect(link('/products/grid', new URLSearchParams(query)));
  }
  if ('ids' in selection && selection.ids.length === 0) {
    return redirect(link(listPath(new URLSearchParams([...list, ['done', 'none']]))));
  }
  const change = action === 'delete' || action === 'archive' || action === 'restore'
    ? { mode: action } as const : { mode: 'category', category: undefined } as const;
  const suggestions = change.mode === 'category' ? await suggestCategories(request, portal) : [];
  const task = restartBulk({ selection, change, suggestions });
  return redirectToJob(request, await getImportJobs(portal).start(toImporter(request), task));
};

/** GET /portal/categories/rename: 200, 404. POST: 303, 422, 503 */
export const renameForm = defineFormPage({
  fields: FIELDS,
  initial: ({ query }) => ({ from: query.get('category'), to: query.get('category') }),
  async page(request, portal, { form }) {
    const from = form.get('from');
    const products = await countProducts(request, portal, from);
    if (products === 0) throw new AppError('not_found', 'You have no products in this category.');
    return {
      title: 'Rename category', cancel: '/categories', submit: 'Rename', fields: FIELDS.slice(1),
      hidden: html`${nonceField()}${hiddenField('from', from)}`,
      before: html`<p><strong><bdi>${from}</bdi></strong> has
        ${request.format.countProducts(products)}, which will get the new name. If another category
        has this name already, the two will be merged; you see a preview first.</p>`,
    };
  },
  read(form, errors) {
    const from = form.get('from');
    const to = takeValue(errors, 'to', categoryValidator.parse(form.getTrimmed('to')), '');
    if (to === from) errors.set('to', 'The category has this name. Enter another one.');
    return { from, to };
  },
  /** Starts at once, unless the two categories will be merged or the preview takes long. */
  async save({ from, to }, request, portal) {
    // After a double click, the products already have the new name.
    if (await countProducts(request, portal, from) === 0) {
      return redirect(request.link('/categories?done=gone'));
    }
    const task = restartBulk({
      selection: { filter: { category: from, archived: 'any' } },
      change: { mode: 'category', category: to }, suggestions: [],
    });
    const job = await getImportJobs(portal).start(toImporter(request), task);
    const reply = await redirectToJob(request, job);
    const { phase, revision } = job.state;
    if (phase !== 'ready' || task.preview?.others !== 0) return reply;
    await job.commit(revision, toImporter(request));
    return redirectToJob(request, job);
  },
});

async function countProducts(
  { account: { sellerId }, position }: PageRequest, { store }: Portal, category: string,
): Promise<number> {
  return category === '' ? 0 : countInCategory(store, sellerId, category, position);
}

/** A form is useful without suggestions, while the search has not caught up. */
async function suggestCategories(
  { account: { sellerId }, position }: PageRequest, { store }: Portal,
): Promise<readonly string[]> {
  const query = { from: undefined, limit: CATEGORIES_SUGGESTED };
  const categories = await undefinedIf(
    'unavailable', store.listCategories(sellerId, query, position),
  );
  return categories?.map(({ category }) => category) ?? [];
}
