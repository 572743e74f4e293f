/**
 * The page for an edit that collides with another one: a choice for each field that both sides
 * changed, and the values of the others, which are merged. Nothing is saved before the seller has
 * chosen.
 */
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { errorSummary, postForm, radioGroup } from '../forms/fields.ts';
import type { Form } from '../forms/form.ts';
import { html, type Html } from '../html/html.ts';
import { facts } from '../html/elements.ts';
import { renderPage } from '../html/page.ts';
import type { Portal, PageRequest } from '../route.ts';
import { describeTexts, PRODUCT_LABELS } from './product-form.ts';
import {
  EDITED_FIELDS, type EditedField, formatBase, mergeProduct, type SubmittedEdit,
} from './product-merge.ts';
import { pathOf } from './product-path.ts';

const ASKED = 'asked';
const choiceOf = (field: EditedField): string => `choice_${field}`;
const LABELS = Object.fromEntries(EDITED_FIELDS.map((field) =>
  [choiceOf(field), PRODUCT_LABELS[field]]));

/** The form field names of this page's choices. */
export const CHOICE_FIELDS: readonly string[] = [ASKED, ...Object.keys(LABELS)];

/** The choices made on this page; empty for the form of any other page. */
export function readChoices(form: Form): SubmittedEdit['choices'] {
  const asked = EDITED_FIELDS.filter((field) => form.getAll(ASKED).includes(field));
  return new Map(asked.map((field) => {
    const side = form.get(choiceOf(field));
    return [field, side === 'mine' || side === 'theirs' ? side : undefined];
  }));
}

/** `product` is the current version, with which the edit collides. */
export function renderConflict(
  request: PageRequest, portal: Portal, product: Product, edit: SubmittedEdit,
): Reply {
  const { merged, collisions, kept } = mergeProduct(edit, product);
  const now = describeTexts(product, request.format);
  const typed = describeTexts(edit.mine, request.format);
  const settled = describeTexts(merged, request.format);
  const isAsked = (field: EditedField): boolean => collisions.includes(field)
    || (edit.choices.has(field) && now[field] !== typed[field]);
  const errors = new Map(edit.choices.size === 0 ? [] : collisions.map((field) =>
    [choiceOf(field), 'Choose which version to save.'] as const));
  const others = EDITED_FIELDS.filter((field) => !isAsked(field));
  return renderPage(request, portal, {
    title: 'Someone else edited this product',
    status: 409,
    content: html`${errorSummary(errors, 'Nothing was saved yet. After you opened the form, '
      + 'someone else changed the same fields (or you did, in another window).', LABELS)}
      <section class="card" aria-labelledby="versions">
        <h2 id="versions">Choose which version to save</h2>
        ${postForm(request, request.link(pathOf(product)), html`
          ${hidden('base', formatBase(product))}
          ${EDITED_FIELDS.map((field) => isAsked(field)
    ? html`${hidden(ASKED, field)}${hidden(field, typed[field])}`
    : hidden(field, settled[field]))}
          ${EDITED_FIELDS.filter(isAsked).map((field) => radioGroup({
    name: choiceOf(field), label: PRODUCT_LABELS[field], errors,
    value: (!collisions.includes(field) && edit.choices.get(field)) || '',
    choices: [
      { value: 'mine', label: html`Overwrite with my version: <bdi>${typed[field]}</bdi>` },
      { value: 'theirs', label: html`Discard my change, keep: <bdi>${now[field]}</bdi>` },
    ],
  }))}
          ${others.length > 0 && html`<div><h3>Without a conflict</h3>
            ${facts(others.map((field) => [PRODUCT_LABELS[field],
    html`<bdi>${settled[field]}</bdi>${settled[field] !== now[field] && ' (changed by you)'}${
      kept.includes(field) && ' (changed by them)'}`]))}
          </div>`}
          <div class="actions"><button>Save</button>
            <a class="button" href="${request.link(pathOf(product))}">Discard my changes</a>
          </div>`)}
      </section>`,
  });
}

function hidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`;
}
