/** Manual stock changes of a product: an adjustment, or the quantity of a stocktake. */
import {
  parseStockChange, STOCK_TOO_LARGE, type StockChange, type StockResult,
} from '../../../domain/catalogue/stock-change.ts';
import type { Reply } from '../../../http/response/reply.ts';
import {
  type FieldErrors, fieldErrorsFrom, type Form, isDuplicateSubmission, toWriteContext,
} from '../forms/form.ts';
import { redirect } from '../html/page.ts';
import { ALREADY_SUBMITTED } from './product-form.ts';
import { type RejectedForm, renderProduct, type StockTexts } from './product-view.ts';
import type { DraftRoute, Portal, PageRequest } from '../route.ts';
import { findWholeNumber, parseTypedWhole } from '../forms/typed-values.ts';
import { getProduct, noProduct } from './product.ts';

/** One of the two forms, named after its number field; `set_reason` is the reason of `set`. */
type StockField = 'set' | 'amount';

/** POST /portal/products/{id}/stock: 303, 400, 404, 409, 422 */
export async function setStock(request: PageRequest, portal: Portal, form: Form): Promise<Reply> {
  const expect = findWholeNumber(form.get('expect')) ?? NaN;
  return changeStock(request, portal, form, 'set', (set) => ({ set, expect }));
}

/** POST /portal/products/{id}/adjust: 303, 400, 404, 409, 422 */
export async function adjustStock(
  request: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const sign = form.get('way') === 'take' ? -1 : 1;
  return changeStock(request, portal, form, 'amount', (amount) => ({ adjust: sign * amount }));
}

export const stockDraft = makeDraft('set');
export const adjustmentDraft = makeDraft('amount');

function makeDraft(field: StockField): DraftRoute {
  return {
    fields: [field, `${field}_reason`],
    show: async (request, portal, form) => renderProduct(
      request, portal, await getProduct(request, portal),
      { status: 200, stock: readTexts(form, field) },
    ),
  };
}

function readTexts(form: Form, field: StockField): StockTexts {
  return {
    [field]: form.getTrimmed(field), [`${field}_reason`]: form.getTrimmed(`${field}_reason`),
  };
}

async function changeStock(
  request: PageRequest, portal: Portal, form: Form, field: StockField,
  describe: (typed: number) => object,
): Promise<Reply> {
  const texts = readTexts(form, field);
  const reject = async (rejected: RejectedForm): Promise<Reply> =>
    renderProduct(
      request, portal, await getProduct(request, portal), { ...rejected, stock: texts },
    );
  const read = readChange(request.parameters['id'] ?? '', texts, field, describe);
  if ('errors' in read) return reject({ status: 422, errors: read.errors });
  try {
    const { results: [result], isReplay } = await portal.store.syncStock(
      toWriteContext(request, form),
      {
        changes: [read.change], isAtomic: true, source: undefined, reason: undefined,
        completion: undefined,
      }, false,
    );
    const rejected = result && explainResult(request, result, read.change);
    if (rejected) return reject(rejected);
    const done = isReplay ? 'repeated' : result?.status === 'unchanged' ? 'same' : 'stock';
    return redirect(request.link(`/products/${request.parameters['id']}?done=${done}`));
  } catch (error) {
    if (isDuplicateSubmission(error)) return reject({ status: 409, detail: ALREADY_SUBMITTED });
    throw error;
  }
}

function readChange(
  id: string, texts: StockTexts, field: StockField, describe: (typed: number) => object,
): { readonly change: StockChange } | { readonly errors: FieldErrors } {
  const typed = parseTypedWhole(texts[field] ?? '');
  if ('error' in typed) return { errors: new Map([[field, typed.error.detail]]) };
  if (typed.value < 0) return { errors: new Map([[field, 'Enter a number without a sign.']]) };
  const reason = texts[`${field}_reason`];
  const sent = parseStockChange({ id, ...describe(typed.value), ...(reason && { reason }) }, false);
  if ('change' in sent) return sent;
  const errors = [...fieldErrorsFrom(sent.issues)].map(([member, detail]) =>
    [member === 'reason' ? `${field}_reason` : field, detail] as const);
  return { errors: new Map(errors) };
}

/** Why the change was not made; undefined if it was. @throws AppError `not_found` */
function explainResult(
  { format }: PageRequest, { status, previous = 0 }: StockResult,
  { set = 0, expect = 0 }: StockChange,
): RejectedForm | undefined {
  const reject = (detail: string): RejectedForm =>
    ({ status: 422, errors: new Map([['amount', detail]]) });
  switch (status) {
    case 'ok': case 'unchanged': return undefined;
    case 'not_found': throw noProduct();
    case 'insufficient': return reject(`Only ${format.number(previous)} are in stock.`);
    case 'invalid': return reject(STOCK_TOO_LARGE.detail);
    case 'conflict': case 'stale': {
      const [was, is, typed] = [expect, previous, set].map(format.number);
      const what = `The stock changed while you counted: it was ${was} and is now ${is}.`;
      const hint = `If ${typed} is still correct, set it again.`;
      return { status: 409, detail: `${what} ${hint}` };
    }
  }
}
