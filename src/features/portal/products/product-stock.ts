/** Manual stock changes of a product: an adjustment or a stocktake. */
import {
  parseStockChange, STOCK_TOO_LARGE, type StockChange,
} from '../../../domain/catalogue/stock-change.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { didChange } from '../history/undo.ts';
import { defineForm } from '../forms/form-page.ts';
import { fieldErrorsFrom, type Form, type FormState, toWriteContext } from '../forms/form.ts';
import { findWholeNumber, parseTypedWhole } from '../forms/typed-values.ts';
import { redirect } from '../html/page.ts';
import type { PageRequest, Portal } from '../route.ts';
import { getProduct, noProduct } from './product-path.ts';
import { renderProduct, STOCK_FIELDS } from './product-view.ts';

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
    render,
    read(form, errors, { parameters: { id } }) {
      const typed = parseTypedWhole(form.get(field));
      if ('error' in typed || typed.value < 0) {
        errors.set(field, 'error' in typed ? typed.error.detail : 'Enter a positive number or 0.');
        return undefined;
      }
      const reason = form.getTrimmed(reasonField);
      const sent = { id, ...describe(typed.value, form), ...(reason !== '' && { reason }) };
      const parsed = parseStockChange(sent, false);
      if ('change' in parsed) return parsed.change;
      for (const [member, detail] of fieldErrorsFrom(parsed.issues)) {
        errors.set(member === 'reason' ? reasonField : field, detail);
      }
      return undefined;
    },
    save,
  });
}

async function render(request: PageRequest, portal: Portal, state: FormState): Promise<Reply> {
  return renderProduct(request, portal, await getProduct(request, portal), state);
}

async function save(
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
      return render(request, portal, { form, errors, status: 409, detail });
    }
    default: {
      const query = isReplay || result?.status === 'unchanged'
        ? new URLSearchParams({ done: isReplay ? 'repeated' : 'same' })
        : didChange(result?.position ?? 0);
      return redirect(link(`/products/${request.parameters['id']}`, query));
    }
  }
}
