/**
 * The parts of forms: labelled fields that keep what was typed and say what is wrong with it, and
 * the list of all faults above them, which leads to each (WCAG 2.2, success criteria 3.3.1 to
 * 3.3.3).
 */
import { type Content, html, type Html } from '../html/html.ts';
import type { AnonymousPageRequest } from '../route.ts';
import { CSRF_FIELD } from './csrf.ts';
import { sellerField } from './draft.ts';
import type { FieldErrors } from './form.ts';

interface Field {
  readonly name: string;
  readonly label: string;
  readonly value?: string;
  readonly errors?: FieldErrors;
  readonly hint?: Content;
}

interface TextField extends Field {
  /** As of `<input>`. Default `text`. */
  readonly type?: 'text' | 'email' | 'password' | 'search' | 'url' | 'datetime-local' | 'date';
  readonly inputMode?: 'decimal' | 'numeric';
  readonly autocomplete?: string;
  readonly isRequired?: boolean;
  readonly maxLength?: number;
  /** `id` where a page has several fields of the name. */
  readonly id?: string;
  /** Values to choose from; any other can be typed, too. */
  readonly suggestions?: readonly string[];
}

export interface Choice {
  readonly value: string;
  readonly label: string;
}

/** A form that is sent by POST, with the token that tells it from a forged one. */
export function postForm(
  request: Pick<AnonymousPageRequest, 'csrfToken' | 'user'>, action: string, content: Content,
  className = 'stack',
): Html {
  return html`<form method="post" action="${action}" class="${className}" novalidate>
    <input type="hidden" name="${CSRF_FIELD}" value="${request.csrfToken}">
    ${sellerField(request)}${content}
  </form>`;
}

export function textField(field: TextField): Html {
  const { name, label, value = '', type = 'text', autocomplete = 'off' } = field;
  const id = field.id ?? `field-${name}`;
  const [described, notes] = describeField(id, field);
  return html`<div class="field">
    <label for="${id}">${label}</label>
    <input id="${id}" name="${name}" type="${type}" value="${type === 'password' ? '' : value}"
      autocomplete="${autocomplete}"${field.inputMode && html` inputmode="${field.inputMode}"`}
      ${field.maxLength && html` maxlength="${field.maxLength}"`}
      ${field.isRequired && html` required`}${
  field.suggestions && html` list="${id}-list"`}${described}>
    ${field.suggestions && html`<datalist id="${id}-list">${field.suggestions.map((suggestion) =>
  html`<option value="${suggestion}">`)}</datalist>`}
    ${notes}
  </div>`;
}

/** For several lines, `rows` of which are seen. */
export function textArea(field: Field & { readonly rows: number }): Html {
  const { name, label, value = '', rows } = field;
  const id = `field-${name}`;
  const [described, notes] = describeField(id, field);
  // The first line break after the tag is none of the text (WHATWG HTML, section 13.1.2.5).
  return html`<div class="field">
    <label for="${id}">${label}</label>
    <textarea id="${id}" name="${name}" rows="${rows}" spellcheck="false"${described}>
${value}</textarea>
    ${notes}
  </div>`;
}

export function selectField(field: Field & { readonly choices: readonly Choice[] }): Html {
  const { name, label, value = '', choices } = field;
  const id = `field-${name}`;
  const [described, notes] = describeField(id, field);
  return html`<div class="field">
    <label for="${id}">${label}</label>
    <select id="${id}" name="${name}"${described}>${choices.map((choice) => html`
      <option value="${choice.value}"${choice.value === value && html` selected`}>${
  choice.label}</option>`)}
    </select>
    ${notes}
  </div>`;
}

/** A group of boxes to tick; `values` are those that are. */
export function checkboxes(
  field: Omit<Field, 'value'> & {
    readonly choices: readonly Choice[]; readonly values: readonly string[];
  },
): Html {
  const { name, label, choices, values } = field;
  const [described, notes] = describeField(`field-${name}`, field);
  return html`<fieldset id="field-${name}" class="field"${described}>
    <legend>${label}</legend>
    ${choices.map((choice) => html`<label class="choice">
      <input type="checkbox" name="${name}" value="${choice.value}"${
  values.includes(choice.value) && html` checked`}> ${choice.label}</label>`)}
    ${notes}
  </fieldset>`;
}

/** A group of radio buttons; `value` is the selected one. */
export function radioGroup(
  field: Field & {
    readonly choices: readonly { readonly value: string; readonly label: Content }[];
  },
): Html {
  const { name, label, value, choices } = field;
  const [described, notes] = describeField(`field-${name}`, field);
  return html`<fieldset id="field-${name}" class="field"${described}>
    <legend>${label}</legend>
    ${choices.map((choice) => html`<label class="choice">
      <input type="radio" name="${name}" value="${choice.value}"${
  choice.value === value && html` checked`} required> <span>${choice.label}</span></label>`)}
    ${notes}
  </fieldset>`;
}

/**
 * The error summary; empty without errors. It gets the focus when the page loads. `labels` are
 * those of the fields.
 */
export function errorSummary(
  errors: FieldErrors, detail?: string, labels: Readonly<Record<string, string>> = {},
): Content {
  if (errors.size === 0 && detail === undefined) return undefined;
  return html`<div class="notice bad" role="alert" tabindex="-1" autofocus>
    <p>${detail ?? 'Nothing was saved yet. Please correct this:'}</p>
    ${errors.size > 0 && html`<ul>${[...errors].map(([name, fault]) => html`
      <li><a href="#field-${name}">${labels[name] !== undefined && html`${labels[name]}: `}${
  fault}</a></li>`)}</ul>`}
  </div>`;
}

function describeField(
  id: string, { name, errors, hint }: Field,
): readonly [attributes: Content, notes: Content] {
  const fault = errors?.get(name);
  const ids = [hint !== undefined && `${id}-hint`, fault !== undefined && `${id}-fault`]
    .filter((part) => part !== false);
  return [
    [
      fault !== undefined && html` aria-invalid="true"`,
      ids.length > 0 && html` aria-describedby="${ids.join(' ')}"`,
    ],
    [
      hint !== undefined && html`<p class="hint" id="${id}-hint">${hint}</p>`,
      fault !== undefined && html`<p class="fault" id="${id}-fault">${fault}</p>`,
    ],
  ];
}
