/**
 * Form fields: each has a label, an optional hint and, if what was typed is invalid, an error below
 * it. The error summary above a form links to every invalid field (WCAG 2.2, success criteria 3.3.1
 * to 3.3.3).
 */
import { type Content, html, type Html } from '../html/html.ts';
import type { AnonymousPageRequest } from '../route.ts';
import { CSRF_FIELD } from './csrf.ts';
import { sellerField } from './draft.ts';
import type { FieldErrors, FormState } from './form.ts';

interface LabelledField {
  readonly name: string;
  readonly label: string;
  readonly hint?: Content;
}

interface InputField extends LabelledField {
  /** As of `<input>`. Default `text`. */
  readonly type?: 'text' | 'email' | 'password' | 'search' | 'url' | 'datetime-local' | 'date';
  readonly inputMode?: 'decimal' | 'numeric';
  readonly autocomplete?: string;
  readonly isRequired?: boolean;
  readonly maxLength?: number;
  /** Required if the page has several fields with this name. */
  readonly id?: string;
  /** Suggested values; any other value can be typed, too. */
  readonly suggestions?: readonly string[];
}

export interface Choice {
  readonly value: string;
  readonly label: string;
}

interface ChoiceField extends LabelledField {
  readonly choices: readonly Choice[];
}

/** A field of a declared form. Its value and its error come from the `FormState`. */
export type Field = (InputField & { readonly control?: 'input' })
  | (LabelledField & { readonly control: 'textarea'; readonly rows: number })
  | (ChoiceField & { readonly control: 'select' | 'checkboxes' });

interface Entered {
  readonly value?: string;
  readonly errors?: FieldErrors;
}

/** A form that is sent by POST, with its CSRF token. */
export function postForm(
  request: Pick<AnonymousPageRequest, 'csrfToken' | 'user'>, action: string, content: Content,
  className = 'stack',
): Html {
  return html`<form method="post" action="${action}" class="${className}" novalidate>
    <input type="hidden" name="${CSRF_FIELD}" value="${request.csrfToken}">
    ${sellerField(request)}${content}
  </form>`;
}

/** Renders declared fields with what was typed and what is wrong with it. */
export function renderFields(fields: readonly Field[], { form, errors }: FormState): Html {
  return html`${fields.map((field) => {
    const entered = { value: form.get(field.name), errors };
    switch (field.control) {
      case 'textarea': return textArea({ ...field, ...entered });
      case 'select': return selectField({ ...field, ...entered });
      case 'checkboxes': return checkboxes({ ...field, values: form.getAll(field.name), errors });
      default: return textField({ ...field, ...entered });
    }
  })}`;
}

export function textField(field: InputField & Entered): Html {
  const { name, label, value = '', type = 'text', autocomplete = 'off', suggestions } = field;
  const id = field.id ?? `field-${name}`;
  const [described, notes] = describeField(id, field);
  return html`<div class="field">
    <label for="${id}">${label}</label>
    <input id="${id}" name="${name}" type="${type}" value="${type === 'password' ? '' : value}"
      autocomplete="${autocomplete}"${field.inputMode && html` inputmode="${field.inputMode}"`}
      ${field.maxLength && html` maxlength="${field.maxLength}"`}
      ${field.isRequired && html` required`}${suggestions && html` list="${id}-list"`}${described}>
    ${suggestions && html`<datalist id="${id}-list">${suggestions.map((suggestion) =>
  html`<option value="${suggestion}">`)}</datalist>`}
    ${notes}
  </div>`;
}

function textArea(field: LabelledField & Entered & { readonly rows: number }): Html {
  const { name, label, value = '', rows } = field;
  const id = `field-${name}`;
  const [described, notes] = describeField(id, field);
  // Browsers drop the first line break after the tag (WHATWG HTML, section 13.1.2.5).
  return html`<div class="field">
    <label for="${id}">${label}</label>
    <textarea id="${id}" name="${name}" rows="${rows}" spellcheck="false"${described}>
${value}</textarea>
    ${notes}
  </div>`;
}

export function selectField(field: ChoiceField & Entered): Html {
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

/** A group of checkboxes; `values` are the checked ones. */
function checkboxes(
  field: ChoiceField & Pick<Entered, 'errors'> & { readonly values: readonly string[] },
): Html {
  return group(field, ({ value, label }) => html`
      <input type="checkbox" name="${field.name}" value="${value}"${
  field.values.includes(value) && html` checked`}> ${label}`);
}

/** A group of radio buttons; `value` is the selected one. */
export function radioGroup(
  field: LabelledField & Entered & {
    readonly choices: readonly { readonly value: string; readonly label: Content }[];
  },
): Html {
  return group(field, ({ value, label }) => html`
      <input type="radio" name="${field.name}" value="${value}"${
  value === field.value && html` checked`} required> <span>${label}</span>`);
}

function group<Option>(
  field: LabelledField & Entered & { readonly choices: readonly Option[] },
  renderOption: (option: Option) => Html,
): Html {
  const [described, notes] = describeField(`field-${field.name}`, field);
  return html`<fieldset id="field-${field.name}" class="field"${described}>
    <legend>${field.label}</legend>
    ${field.choices.map((option) => html`<label class="choice">${renderOption(option)}</label>`)}
    ${notes}
  </fieldset>`;
}

/** The error summary; empty without errors. `labels` are those of the fields. */
export function errorSummary(
  errors: FieldErrors, detail?: string, labels: Readonly<Record<string, string>> = {},
): Content {
  if (errors.size === 0 && detail === undefined) return undefined;
  // It takes the focus when the page loads, so that screen readers announce it.
  return html`<div class="notice bad" role="alert" tabindex="-1" autofocus>
    <p>${detail ?? 'Nothing was saved. Please correct the following:'}</p>
    ${errors.size > 0 && html`<ul>${[...errors].map(([name, error]) => html`
      <li><a href="#field-${name}">${labels[name] !== undefined && html`${labels[name]}: `}${
  error}</a></li>`)}</ul>`}
  </div>`;
}

function describeField(
  id: string, { name, errors, hint }: LabelledField & Entered,
): readonly [attributes: Content, notes: Content] {
  const error = errors?.get(name);
  const ids = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-fault`]
    .filter((part) => part !== false);
  return [
    [
      error !== undefined && html` aria-invalid="true"`,
      ids.length > 0 && html` aria-describedby="${ids.join(' ')}"`,
    ],
    [
      hint !== undefined && html`<p class="hint" id="${id}-hint">${hint}</p>`,
      error !== undefined && html`<p class="fault" id="${id}-fault">${error}</p>`,
    ],
  ];
}
