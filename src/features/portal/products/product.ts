/** One product: shows, edits and deletes it; adjusts its stock, or sets it by a stocktake. */
import { replaceMetadata } from '../../../domain/catalogue/metadata.ts';
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import { parseProductPatch } from '../../../domain/catalogue/product.ts';
import {
  parseStockChange, STOCK_TOO_LARGE, type StockChange,
} from '../../../domain/catalogue/stock-change.ts';
import { AppError, undefinedIf } from '../../../domain/error.ts';
import { parseProductId } from '../../../domain/id.ts';
import { findRevision, toRevision } from '../../../domain/revision.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { defineForm, renderFormPage } from '../forms/form-page.ts';
import {
  fieldErrorsFrom, Form, type FormState, hiddenField, NO_ERRORS, nonceField, rejectedState,
  toWriteContext,
} from '../forms/form.ts';
import { findWholeNumber, parseTypedWhole } from '../forms/typed-values.ts';
import { didChange, findDeletion } from '../history/undo.ts';
import { facts } from '../html/elements.ts';
import { html } from '../html/html.ts';
import { redirect } from '../html/page.ts';
import { EDIT_ATTEMPTS_LIMIT } from '../limits.ts';
import type { DraftRoute, PageRequest, Portal, Show, Submit } from '../route.ts';
import {
  EDITED_FIELDS, type EditedValues, inputNames, readProduct, renderGoneProduct,
} from './product-form.ts';
import {
  CHOICE_FIELDS, mergeProduct, parseBase, readChoices, renderConflict, type SubmittedEdit,
} from './product-conflict.ts';
import { findProduct, getProduct, noProduct, pathOf } from './product-path.ts';
import { fillIn, listFacts, renderProduct, STOCK_FIELDS } from './product-view.ts';

/** GET /portal/products/{id}: 200, 404 */
export const showProduct: Show = async (request, portal) =>
  renderProduct(request, portal, await getProduct(request, portal));

/** POST /portal/products/{id}: 303, 404, 409, 422, 503 */
export const editProduct: Submit = async (request, portal, form) => {
  for (let attempt = 0; attempt < EDIT_ATTEMPTS_LIMIT; attempt += 1) {
    const product = await findProduct(request, portal);
    if (!product) return renderGoneProduct(request, portal, form);
    const reply = await saveEdit(request, portal, product, form);
    if (reply) return reply;
  }
  throw new AppError('unavailable', 'The stock of this product keeps changing. Try again.');
};

export const editDraft: DraftRoute = {
  fields: ['base', ...inputNames(EDITED_FIELDS), ...CHOICE_FIELDS],
  async show(request, portal, form) {
    const product = await findProduct(request, portal);
    if (!product) return renderGoneProduct(request, portal, form);
    const edit = readEdit(request, product, form, new Map());
    return edit && edit.choices.size > 0 ? renderConflict(request, portal, product, edit)
      : renderProduct(request, portal, product, { form, errors: NO_ERRORS });
  },
};

/** Undefined if a field is invalid. */
function readEdit(
  request: PageRequest, product: Product, form: Form, errors: Map<string, string>,
): SubmittedEdit | undefined {
  const base = parseBase(form.get('base'));
  const members = readProduct(form, errors, request, {
    fields: EDITED_FIELDS, base: base ?? product,
    parse: parseProductPatch,
  });
  if (errors.size > 0) return undefined;
  return { base, mine: { ...product, ...members }, choices: readChoices(form) };
}

/**
 * Saves the edit unless it conflicts. Undefined if the product changed between the read and the
 * save. A stock movement is not a conflict: an edit does not touch the stock, which changes all day
 * in a busy shop.
 */
async function saveEdit(
  request: PageRequest, portal: Portal, product: Product, form: Form,
): Promise<Reply | undefined> {
  const errors = new Map<string, string>();
  const edit = readEdit(request, product, form, errors);
  if (!edit) return renderProduct(request, portal, product, { form, errors });
  const outcomes = [...mergeProduct(edit, product)];
  if (outcomes.some(([, outcome]) => outcome === 'collision')) {
    return renderConflict(request, portal, product, edit);
  }
  const keptFields = outcomes.filter(([, outcome]) => outcome === 'kept');
  const showSaved = (query: URLSearchParams): Reply => {
    for (const [{ name }] of keptFields) query.append('theirs', name);
    return redirect(request.link(pathOf(product), query));
  };
  const changes: Partial<EditedValues> = Object.fromEntries(outcomes
    .filter(([, outcome]) => outcome === 'mine')
    .map(([{ member }]) => [member, edit.mine[member]]));
  // Nothing to save, as after a double click.
  if (Object.keys(changes).length === 0) {
    return showSaved(new URLSearchParams(keptFields.length === 0 ? { done: 'saved' } : {}));
  }
  try {
    const { id, position: ifMatch } = product;
    const metadata = replaceMetadata(product.metadata, changes.metadata);
    const { position } = await portal.store.patchProduct(
      toWriteContext(request), { id }, { ...changes, ...('metadata' in changes && { metadata }) },
      { ifMatch: [toRevision(request.generation, ifMatch)] },
    );
    return showSaved(didChange(request, position));
  } catch (error) {
    const isStale = error instanceof AppError
      && (error.code === 'precondition_failed' || error.code === 'not_found');
    if (isStale) return undefined;
    const retry = fillIn(request, product, { ...product, ...changes });
    return renderProduct(request, portal, product, rejectedState(retry, error));
  }
}

/** GET /portal/products/{id}/delete: 200, 404. POST: 303, 400, 404, 409, 422 */
export const deletionForm = defineForm({
  fields: [],
  render: renderDeletion,
  async save(_, request, portal, state) {
    const id = parseProductId(request.account.sellerId, request.parameters['id'] ?? '');
    if (id === undefined) throw noProduct();
    const ifMatch = [findRevision(state.form.get('position')) ?? ''];
    const write = toWriteContext(request, state.form);
    const deleted = await undefinedIf(
      'precondition_failed', portal.store.deleteProduct(write, { id }, { ifMatch }),
    );
    if (!deleted) {
      const detail = 'The product has changed, so it was not deleted. Check the current version '
        + 'below.';
      return renderDeletion(request, portal, { ...state, detail, status: 409 });
    }
    const deletion = await findDeletion(request, portal, { productId: id });
    return redirect(request.link('/products', didChange(request, deletion)));
  },
});

async function renderDeletion(
  request: PageRequest, portal: Portal, state: FormState,
): Promise<Reply> {
  const product = await getProduct(request, portal);
  return renderFormPage(request, portal, {
    title: 'Delete this product?', action: request.path, cancel: pathOf(product),
    submit: 'Delete product', isDestructive: true, fields: [],
    hidden: [
      nonceField(),
      hiddenField('position', toRevision(request.generation, product.position)),
    ],
    before: html`<section class="card">
      ${facts([['Name', html`<bdi>${product.name}</bdi>`], ...listFacts(request, product)])}
      <p>The SKU becomes available again. The product's history is kept.</p></section>`,
  }, state);
}

/** POST /portal/products/{id}/stock: 303, 400, 404, 409, 422 */
export const stocktakeForm = defineStockForm('set', (set, form) =>
  ({ set, expect: findWholeNumber(form.get('expect')) ?? NaN }));

/** POST /portal/products/{id}/adjust: 303, 400, 404, 409, 422 */
export const adjustmentForm = defineStockForm('amount', (amount, form) =>
  ({ adjust: form.get('way') === 'take' ? -amount : amount }));

function defineStockForm(
  field: keyof typeof STOCK_FIELDS, describe: (typed: number, form: Form) => object,
) {
  const reasonField = `${field}_reason`;
  return defineForm<StockChange>({
    fields: STOCK_FIELDS[field],
    render: renderStockForm,
    read(form, errors, { parameters: { id } }) {
      const typed = parseTypedWhole(form.get(field));
      if ('error' in typed || typed.value < 0) {
        errors.set(field, 'error' in typed ? typed.error.detail : 'Enter a positive number or 0.');
        return undefined;
      }
      const reason = form.getTrimmed(reasonField);
      const input = { id, ...describe(typed.value, form), ...(reason !== '' && { reason }) };
      const parsed = parseStockChange(input, false);
      if ('change' in parsed) return parsed.change;
      for (const [member, detail] of fieldErrorsFrom(parsed.issues)) {
        errors.set(member === 'reason' ? reasonField : field, detail);
      }
      return undefined;
    },
    save: saveStock,
  });
}

async function renderStockForm(
  request: PageRequest, portal: Portal, state: FormState,
): Promise<Reply> {
  return renderProduct(request, portal, await getProduct(request, portal), state);
}

async function saveStock(
  change: StockChange, request: PageRequest, portal: Portal,
  { form, errors }: { readonly form: Form; readonly errors: Map<string, string> },
): Promise<Reply | undefined> {
  const { results: [result], isReplay } = await portal.store.syncStock(
    toWriteContext(request, form),
    {
      changes: [change], isAtomic: true, source: undefined, reason: undefined,
      completion: undefined,
    }, false,
  );
  const { format, link } = request;
  switch (result?.status) {
    case 'not_found': throw noProduct();
    case 'insufficient':
      errors.set('amount', `Only ${format.number(result.previous ?? 0)} in stock.`);
      return undefined;
    case 'invalid':
      errors.set('amount', STOCK_TOO_LARGE.detail);
      return undefined;
    case 'conflict': case 'stale': {
      const { expect = 0, set = 0 } = change;
      const [was, is, typed] = [expect, result.previous ?? 0, set].map(format.number);
      const detail = `The stock changed while you counted, from ${was} to ${is}. If ${
        typed} is still correct, set it again.`;
      return renderStockForm(request, portal, { form, errors, status: 409, detail });
    }
    default: {
      const query = isReplay || result?.status === 'unchanged'
        ? new URLSearchParams({ done: isReplay ? 'repeated' : 'same' })
        : didChange(request, result?.position ?? 0);
      return redirect(link(`/products/${request.parameters['id']}`, query));
    }
  }
}
