/**
 * The page for an edit that conflicts with another one: a choice for each field that both sides
 * changed, and the merged values of the other fields. Nothing is saved until the seller has chosen.
 */
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { errorSummary, type Field, postForm, renderFields } from '../forms/fields.ts';
import { Form, hiddenField } from '../forms/form.ts';
import { facts } from '../html/elements.ts';
import { html } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import type { PageRequest, Portal } from '../route.ts';
import { EDITED_FIELDS, type EditedField, toText } from './product-form.ts';
import { formatBase, mergeProduct, type SubmittedEdit } from './product-merge.ts';
import { pathOf } from './product-path.ts';

const ASKED = 'asked';
const choiceOf = ({ name }: EditedField): string => `choice_${name}`;

/** Names of this page's choice fields. */
export const CHOICE_FIELDS: readonly string[] = [ASKED, ...EDITED_FIELDS.map(choiceOf)];

/** The choices made on this page; empty for any other page's form. */
export function readChoices(form: Form): SubmittedEdit['choices'] {
  const asked = EDITED_FIELDS.filter(({ name }) => form.has(ASKED, name));
  return new Map(asked.map((field) => {
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
  const asked = fields.filter(({ isAsked }) => isAsked);
  const others = fields.filter(({ isAsked }) => !isAsked);
  const choices = asked.map(({ key, label, outcome, typed, now }): Field => ({
    name: key, label, control: 'radio', initial: outcome,
    choices: [
      { value: 'mine', label: html`Overwrite with my version: <bdi>${typed}</bdi>` },
      { value: 'theirs', label: html`Discard my change, keep: <bdi>${now}</bdi>` },
    ],
  }));
  const missing = edit.choices.size === 0 ? []
    : asked.filter(({ outcome }) => outcome === 'collision');
  const state = {
    form: new Form(),
    errors: new Map(missing.map(({ key }) => [key, 'Choose which version to save.'])),
    detail: 'Nothing was saved yet. Since you opened the form, someone else changed the same '
      + 'fields (or you did, in another window).',
  };
  return renderPage(request, portal, {
    title: 'Someone else edited this product',
    status: 409,
    content: html`${errorSummary(state, choices)}
      <section class="card" aria-labelledby="versions">
        <h2 id="versions">Choose which version to save</h2>
        ${postForm(request, here, html`
          ${hiddenField('base', formatBase(product))}
          ${asked.map(({ name, typed }) => [hiddenField(ASKED, name), hiddenField(name, typed)])}
          ${others.map(({ name, settled }) => hiddenField(name, settled))}
          ${renderFields(choices, state)}
          ${others.length > 0 && html`<div><h3>Without a conflict</h3>
            ${facts(others.map(({ label, outcome, settled }) => [label,
    html`<bdi>${settled}</bdi>${outcome === 'mine' && ' (changed by you)'}${
      outcome === 'kept' && ' (changed by them)'}`]))}
          </div>`}
          <div class="actions"><button class="primary">Save</button>
            <a class="button danger" href="${here}">Discard my changes</a>
          </div>`)}
      </section>`,
  });
}
