/**
 * Saved filters of a list: links above the list, and the forms that save and delete them. The whole
 * team of a shop sees them. A filter keeps only fields of the list, so its link leads nowhere else.
 */
import { AppError } from '../../../domain/error.ts';
import { lineValidator } from '../../../domain/validation.ts';
import type { FilteredList } from '../../../store/account-store.ts';
import { type Field, postForm, renderFields } from '../forms/fields.ts';
import { readFilters } from '../forms/filter.ts';
import { Form, hiddenField } from '../forms/form.ts';
import { notice } from '../html/elements.ts';
import { html, type Html, shorten } from '../html/html.ts';
import { redirect } from '../html/page.ts';
import { SAVED_FILTER_LIMIT_CHARACTERS, SAVED_FILTER_NAME_LIMIT_CODE_POINTS } from '../limits.ts';
import type { PageRequest, Portal, Submit } from '../route.ts';

const NAME: Field = {
  name: 'filter_name', label: 'Name of the filter', isRequired: true,
  maxLength: 2 * SAVED_FILTER_NAME_LIMIT_CODE_POINTS,
};
const name = lineValidator(SAVED_FILTER_NAME_LIMIT_CODE_POINTS);

/** Bytes of a name in the links. */
const NAME_BYTES = 60;
const LISTS: readonly FilteredList[] = ['products', 'changes'];
const DONE = new Map([
  ['filter-saved', 'Filter saved. Everyone in your shop sees it here.'],
  ['filter-deleted', 'Filter deleted.'],
]);

/** The saved filters, and the form for the filter that the page shows. */
export async function renderSavedFilters(
  request: PageRequest, { store }: Portal, list: FilteredList, filters: Form,
): Promise<Html> {
  const { account: { sellerId }, link, query } = request;
  const saved = await store.listFilters(sellerId, list);
  const shownQuery = String(filters);
  const current = saved.find((filter) => filter.query === shownQuery);
  const canEdit = request.may('editor');
  const message = DONE.get(query.get('done'));
  const hidden = html`${hiddenField('list', list)}${hiddenField('query', shownQuery)}`;
  return html`${message !== undefined && notice(html`<p>${message}</p>`)}
    ${saved.length > 0 && html`<nav class="saved" aria-label="Saved filters">
      <ul>${saved.map((filter) => html`<li><a href="${link(`/${list}`, new Form(filter.query))}"${
  filter === current && html` aria-current="page"`}><bdi>${
  shorten(filter.name, NAME_BYTES)}</bdi></a></li>`)}</ul></nav>`}
    ${current !== undefined && canEdit && postForm(request, link('/filters/delete'), html`${hidden}
      ${hiddenField(NAME.name, current.name)}
      <button class="small">Delete the saved filter</button>`, 'saved')}
    ${current === undefined && canEdit && isSavable(shownQuery) && html`<details class="saved">
      <summary>Save this filter</summary>
      ${postForm(request, link('/filters'), html`${hidden}${renderFields([NAME])}
        <button>Save filter</button>`, 'row')}</details>`}`;
}

/** @param fields Of each list that has a page. */
export function filterHandlers(
  fields: Readonly<Partial<Record<FilteredList, (request: PageRequest) => readonly Field[]>>>,
): { readonly save: Submit; readonly delete: Submit } {
  /** @throws AppError `invalid_data` */
  function readFilter(request: PageRequest, form: Form) {
    const list = LISTS.find((candidate) => candidate === form.get('list'));
    const fieldsOf = list && fields[list];
    if (!fieldsOf) throw invalidFilter('Reload the page.');
    const parsed = name.parse(form.getTrimmed(NAME.name));
    if ('error' in parsed) throw invalidFilter(`The name: ${parsed.error.detail}`);
    const query = String(readFilters(new Form(form.get('query')), fieldsOf(request)));
    return { list, name: parsed.value, query };
  }

  return {
    /** POST /portal/filters: 303, 400, 409 */
    async save(request, { store }, form) {
      const filter = readFilter(request, form);
      const { list, query } = filter;
      if (!isSavable(query)) throw invalidFilter('Choose fewer or other filters.');
      await store.saveFilter(request.account.sellerId, filter);
      return redirect(request.link(`/${list}`, withDone(query, 'filter-saved')));
    },
    /** POST /portal/filters/delete: 303, 400 */
    async delete(request, { store }, form) {
      const { list, name: saved, query } = readFilter(request, form);
      await store.deleteFilter(request.account.sellerId, list, saved);
      return redirect(request.link(`/${list}`, withDone(query, 'filter-deleted')));
    },
  };
}

function isSavable(query: string): boolean {
  return query !== '' && query.length <= SAVED_FILTER_LIMIT_CHARACTERS;
}

function withDone(query: string, done: string): URLSearchParams {
  return new URLSearchParams([...new Form(query), ['done', done]]);
}

function invalidFilter(detail: string): AppError {
  return new AppError('invalid_data', `Nothing was saved. ${detail}`);
}
