/**
 * List filters: a GET form whose fields become the page's query. An invalid filter is ignored and
 * shows an error at its field.
 */
import { details } from '../html/elements.ts';
import { html, type Html } from '../html/html.ts';
import { type Field, renderFields } from './fields.ts';
import { type FieldErrors, Form, type FormState } from './form.ts';

/** The form's id, for buttons elsewhere on the page. */
export const FILTER_FORM = 'search';

/** The values of these fields in the query, trimmed. The last of several counts. */
export function readFilters(query: URLSearchParams, fields: readonly Field[]): Form {
  return new Form(fields.flatMap(({ name }) => {
    const text = query.getAll(name).at(-1)?.trim() ?? '';
    return text === '' ? [] : [[name, text]];
  }));
}

export function filterState(form: Form, errors: FieldErrors): FormState {
  if (errors.size === 0) return { form, errors };
  const detail = 'These filters are invalid and were ignored:';
  return { form, errors, detail, status: 400 };
}

/** @param path The page itself. */
export function renderFilters(
  path: string, fields: readonly Field[], state: FormState, isFiltered = state.form.size > 0,
): Html {
  const hidden = fields.filter(({ isDetail }) => isDetail);
  return html`<form method="get" action="${path}" id="${FILTER_FORM}" role="search"
    class="card row filters" novalidate>
    ${renderFields(fields.filter(({ isDetail }) => !isDetail), state)}
    ${hidden.length > 0 && details(renderFields(hidden, state), hidden.some(({ name }) =>
    state.form.has(name) || state.errors.has(name)))}
    <div class="actions"><button>Show</button>
      ${isFiltered && html`<a href="${path}">Clear</a>`}</div>
  </form>`;
}
