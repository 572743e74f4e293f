/**
 * Three-way merge of an edited product: the values when the form was opened, the current values,
 * and the submitted values. A field that only one side changed takes that side's value. If both
 * sides changed a field differently, a page asks for a choice, and nothing is saved until then.
 *
 * The form carries its base in a hidden field, because the history at its position may be pruned. A
 * forged base gains nothing: it overwrites only what the same account may overwrite anyway.
 */
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { type Field, postForm, renderFields } from '../forms/fields.ts';
import { Form, hiddenField } from '../forms/form.ts';
import { card, facts } from '../html/elements.ts';
import { html } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import type { PageRequest, Portal } from '../route.ts';
import { EDITED_FIELDS, type EditedField, type EditedValues, toText } from './product-form.ts';
import { pathOf } from './product-path.ts';

const ASKED = 'asked';
const choiceOf = ({ name }: EditedField): string => `choice_${name}`;

/** Names of this page's choice fields. */
export const CHOICE_FIELDS: readonly string[] = [ASKED, ...EDITED_FIELDS.map(choiceOf)];

/** The choices made on this page; empty for any other page's form. */
export function readChoices(form: Form): SubmittedEdit['choices'] {
  const fields = EDITED_FIELDS.filter(({ name }) => form.has(ASKED, name));
  return new Map(fields.map((field) => {
    const side = form.get(choiceOf(field));
    return [field, side === 'mine' || side === 'theirs' ? side : undefined];
  }));
}

/** @param product The current version, which the edit conflicts with. */
export function renderConflict(
  request: PageRequest, portal: Portal, product: Product, edit: SubmittedEdit,
): Reply {
  const here = request.link(pathOf(product));
  const fields = [...mergeProduct(edit, product)].map(([field, outcome]) => {
    const typed = toText(field, edit.mine, request.format);
    const now = toText(field, product, request.format);
    return {
      ...field, outcome, typed, now, settled: outcome === 'mine' ? typed : now,
      isAsked: outcome === 'collision' || (edit.choices.has(field) && typed !== now),
      key: choiceOf(field),
    };
  });
  const askedFields = fields.filter(({ isAsked }) => isAsked);
  const otherFields = fields.filter(({ isAsked }) => !isAsked);
  const choices = askedFields.map(({ key, label, outcome, typed, now }): Field => ({
    name: key, label, control: 'radio', initial: outcome,
    choices: [
      { value: 'mine', label: html`Overwrite with my version: <bdi>${typed}</bdi>` },
      { value: 'theirs', label: html`Discard my change, keep: <bdi>${now}</bdi>` },
    ],
  }));
  const missing = edit.choices.size === 0 ? []
    : askedFields.filter(({ outcome }) => outcome === 'collision');
  const state = {
    form: new Form(),
    errors: new Map(missing.map(({ key }) => [key, 'Choose which version to save.'])),
    detail: 'Nothing was saved yet. Since you opened the form, someone else changed the same '
      + 'fields (or you did, in another window).',
    status: 409,
  };
  return renderPage(request, portal, {
    title: 'Someone else edited this product',
    state, fields: choices,
    content: card('versions', 'Choose which version to save', postForm(request, here, html`
          ${hiddenField('base', formatBase(product))}
          ${askedFields.map(({ name, typed }) =>
    [hiddenField(ASKED, name), hiddenField(name, typed)])}
          ${otherFields.map(({ name, settled }) => hiddenField(name, settled))}
          ${renderFields(choices, state)}
          ${otherFields.length > 0 && html`<div><h3>Without a conflict</h3>
            ${facts(otherFields.map(({ label, outcome, settled }) => [label,
    html`<bdi>${settled}</bdi>${outcome === 'mine' && ' (changed by you)'}${
      outcome === 'kept' && ' (changed by them)'}`]))}
          </div>`}
          <div class="actions"><button class="primary">Save</button>
            <a class="button danger" href="${here}">Discard my changes</a>
          </div>`)),
  });
}

type Side = 'mine' | 'theirs';
/** The side whose value is saved. `kept` is also theirs: only they changed the field. */
type Outcome = Side | 'kept' | 'collision';

/** The base from the form: only compared, never saved. */
type MergeBase = Readonly<Record<keyof EditedValues, unknown>>;

/** A submitted form with valid fields. */
export interface SubmittedEdit {
  /** Undefined if unreadable: then every field that differs is a collision. */
  readonly base: MergeBase | undefined;
  readonly mine: EditedValues;
  /** The choices on a conflict page, by field; undefined for a missing choice. */
  readonly choices: ReadonlyMap<EditedField, Side | undefined>;
}

export function mergeProduct(
  { base, mine, choices }: SubmittedEdit, theirs: EditedValues,
): ReadonlyMap<EditedField, Outcome> {
  const decide = (field: EditedField): Outcome => {
    const { member } = field;
    const [was, now, typed] = [base?.[member], theirs[member], mine[member]]
      .map((value) => value ?? null);
    if (typed === now) return 'theirs';
    // A choice between two versions is void once either of them changes.
    if (choices.has(field)) return (was === now && choices.get(field)) || 'collision';
    if (was === now) return 'mine';
    return was === typed ? 'kept' : 'collision';
  };
  return new Map(EDITED_FIELDS.map((field) => [field, decide(field)]));
}

const NUMBERS: ReadonlySet<EditedField['kind']> = new Set(['price', 'quantity']);

/** The hidden field's text. */
export function formatBase(values: EditedValues): string {
  return JSON.stringify(EDITED_FIELDS.map(({ member }) => values[member]));
}

/** Undefined unless `formatBase` could have written the text. */
export function parseBase(text: string): MergeBase | undefined {
  try {
    const values: unknown = JSON.parse(text);
    if (!Array.isArray(values)) return undefined;
    const isValid = EDITED_FIELDS.every(({ kind, isRequired }, index) =>
      typeof values[index] === (NUMBERS.has(kind) ? 'number' : 'string')
      || (!isRequired && values[index] === null));
    if (!isValid) return undefined;
    // The cast: EDITED_FIELDS has every member.
    return Object.fromEntries(EDITED_FIELDS.map(({ member }, index) =>
      [member, values[index]])) as MergeBase;
  } catch {
    return undefined;
  }
}
