/**
 * Form fields: each has a label, an optional hint and, if its value is invalid, an error message.
 * The error summary above a form links to every invalid field (WCAG 2.2, success criteria 3.3.1 to
 * 3.3.3).
 */
import { alert } from '../html/elements.ts';
import { type Content, html, type Html } from '../html/html.ts';
import type { AnonymousPageRequest } from '../route.ts';
import { CSRF_FIELD } from './csrf.ts';
import { accountField } from './draft.ts';
import { type FormState, hiddenField, initialState } from './form.ts';
import { renderPairs } from './pairs.ts';

interface LabelledField {
  readonly name: string;
  readonly label: string;
  readonly hint?: Content;
  /** Required if the page has several fields with this name. */
  readonly id?: string;
  /** Whether a filter form shows it under Details. */
  readonly isDetail?: boolean;
  /** The value in an empty form. */
  readonly initial?: string;
}

interface InputField extends LabelledField {
  readonly control?: 'input';
  /** The type of the `<input>`. Default `text`. */
  readonly type?: 'text' | 'email' | 'password' | 'search' | 'url' | 'datetime-local' | 'date'
    | 'file';
  readonly inputMode?: 'decimal' | 'numeric';
  readonly autocomplete?: string;
  readonly isRequired?: boolean;
  readonly maxLength?: number;
  /** Accepted media types and file extensions. */
  readonly accept?: string;
  /** Suggested values; users may type others. */
  readonly suggestions?: readonly string[];
}

interface TextAreaField extends LabelledField {
  readonly control: 'textarea';
  readonly rows: number;
}

/** Rows of a name and a value each. */
interface PairsField extends LabelledField {
  readonly control: 'pairs';
  readonly rowsLimit: number;
}

interface ChoiceField extends LabelledField {
  readonly control: 'select' | 'checkboxes' | 'radio';
  readonly choices: readonly Choice<Content>[];
}

export interface Choice<Label extends Content = string> {
  readonly value: string;
  readonly label: Label;
}

export type Field = InputField | TextAreaField | PairsField | ChoiceField;

/** A POST form with its CSRF token. */
export function postForm(
  request: Pick<AnonymousPageRequest, 'csrfToken' | 'user'>, action: string, content: Content,
  className = 'stack',
): Html {
  return html`<form method="post" action="${action}" class="${className}" novalidate>
    ${hiddenField(CSRF_FIELD, request.csrfToken)}${accountField(request)}${content}
  </form>`;
}

/** Fields with their values and errors. */
export function renderFields(fields: readonly Field[], state: FormState = initialState()): Html {
  return html`${fields.map((field) => renderField(field, state))}`;
}

function renderField(field: Field, { form, errors }: FormState): Html {
  const { name, label, hint, id = `field-${name}`, initial = '' } = field;
  const error = errors.get(name);
  const noteIds = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-fault`]
    .filter(Boolean).join(' ');
  const described = html` id="${id}"${error !== undefined && html` aria-invalid="true"`}${
    noteIds !== '' && html` aria-describedby="${noteIds}"`}`;
  const control = field.control === 'pairs' ? renderPairs(field, form)
    : renderControl(field, described, form.size === 0 ? [initial] : form.getAll(name));
  const notes = html`${hint !== undefined && html`<p class="hint" id="${id}-hint">${hint}</p>`}
    ${error !== undefined && html`<p class="fault" id="${id}-fault">${error}</p>`}`;
  if (['checkboxes', 'radio', 'pairs'].includes(field.control ?? '')) {
    return html`<fieldset class="field"${described}>
      <legend>${label}</legend>${control}${notes}</fieldset>`;
  }
  const isPassword = 'type' in field && field.type === 'password';
  return html`<div class="field"><label for="${id}">${label}</label>${
    isPassword ? revealable(id, label, control) : control}${notes}</div>`;
}

function renderControl(
  field: Exclude<Field, PairsField>, described: Html, values: readonly string[],
): Html {
  const { name } = field;
  const [value = ''] = values;
  switch (field.control) {
    case 'textarea':
      // Browsers drop the first line break after the tag (WHATWG HTML, section 13.1.2.5).
      return html`<textarea name="${name}" rows="${field.rows}" spellcheck="false"${described}>
${value}</textarea>`;
    case 'select':
      // Without line breaks: a page may have hundreds of options.
      return html`<select name="${name}"${described}>${field.choices.map((choice) =>
        html`<option value="${choice.value}"${choice.value === value && html` selected`}>${
          choice.label}</option>`)}</select>`;
    case 'checkboxes': case 'radio': {
      const isRadio = field.control === 'radio';
      return html`${field.choices.map((choice) => html`<label class="choice">
        <input type="${isRadio ? 'radio' : 'checkbox'}" name="${name}" value="${choice.value}"${
  values.includes(choice.value) && html` checked`}${isRadio && html` required`}>
        <span>${choice.label}</span></label>`)}`;
    }
    default: return renderInput(field, described, value);
  }
}

/** A password with a button that shows it, which needs scripts. */
function revealable(id: string, label: string, control: Html): Html {
  return html`<div class="reveal">${control}<button type="button" class="small"
    data-reveal="${id}" aria-pressed="false" hidden>Show<span class="hidden">
      ${label.toLowerCase()}</span></button></div>`;
}

function renderInput(field: InputField, described: Html, value: string): Html {
  const { name, type = 'text', autocomplete = 'off', suggestions } = field;
  const { inputMode, maxLength, isRequired, accept } = field;
  const listId = `list-${name}`;
  const text = type === 'password' ? '' : value.trim();
  return html`<input name="${name}" type="${type}" value="${text}"
    autocomplete="${autocomplete}"${inputMode && html` inputmode="${inputMode}"`}${
  maxLength && html` maxlength="${maxLength}"`}${accept && html` accept="${accept}"`}${
  isRequired && html` required`}${suggestions && html` list="${listId}"`}${described}>
    ${suggestions && html`<datalist id="${listId}">${suggestions.map((suggestion) =>
  html`<option value="${suggestion}">`)}</datalist>`}`;
}

/** A form's error summary in field order; empty without errors. */
export function errorSummary(
  { errors, detail }: Pick<FormState, 'errors' | 'detail'>, fields: readonly Field[] = [],
): Content {
  if (errors.size === 0 && detail === undefined) return undefined;
  const names = fields.map(({ name }) => name);
  const inOrder = [...errors].sort(([a], [b]) => names.indexOf(a) - names.indexOf(b));
  return alert('bad', html`
    <p>${detail ?? 'Nothing was saved. Please correct the following:'}</p>
    ${errors.size > 0 && html`<ul>${inOrder.map(([name, error]) => html`
      <li><a href="#field-${name}">${fields[names.indexOf(name)]?.label}${
  names.includes(name) && ': '}${error}</a></li>`)}</ul>`}`);
}
