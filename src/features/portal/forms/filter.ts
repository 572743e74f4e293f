/**
 * Filters: a form whose fields become the query of its page, which lists what they select. A filter
 * that is not valid is ignored, with an error at its field.
 */
import { html, type Html } from '../html/html.ts';
import { type Field, renderFields } from './fields.ts';
import { type FieldErrors, Form, type FormState } from './form.ts';

/** The id of the form, for buttons elsewhere in its page. */
export const FILTER_FORM = 'search';

/** What the query has for these fields, without blanks; the last one counts. */
export function readFilters(query: URLSearchParams, fields: readonly Field[]): Form {
  return new Form(fields.flatMap(({ name }) => {
    const text = query.getAll(name).at(-1)?.trim() ?? '';
    return text === '' ? [] : [[name, text]];
  }));
}

export function filterState(form: Form, errors: FieldErrors): FormState {
  if (errors.size === 0) return { form, errors };
  const detail = 'These filters are not valid and were ignored:';
  return { form, errors, detail, status: 400 };
}

/** `path` is the page itself. */
export function renderFilters(
  path: string, fields: readonly Field[], state: FormState, isFiltered = state.form.size > 0,
): Html {
  return html`<form method="get" action="${path}" id="${FILTER_FORM}" role="search"
    class="card row filters" novalidate>
    ${renderFields(fields, state)}
    <div class="actions"><button>Show</button>
      ${isFiltered && html`<a href="${path}">Clear</a>`}</div>
  </form>`;
}
