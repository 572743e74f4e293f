/** The two ways to change the stock of a product by hand: to say what it is, or what moves. */
import { REASON_LIMIT_CODE_POINTS } from '../../../domain/limits.ts';
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import { postForm, textField } from '../forms/fields.ts';
import { type FieldErrors, nonceField } from '../forms/form.ts';
import { html, type Html } from '../html/html.ts';
import type { PageRequest } from '../route.ts';
import { pathOf } from './product-path.ts';

/** What was typed, by the names of the fields. */
export type StockTexts = Readonly<Record<string, string>>;

export const STOCK_LABELS: Readonly<Record<string, string>> = {
  amount: 'Quantity', amount_reason: 'Reason', set: 'Counted quantity', set_reason: 'Reason',
};

/** The second one is made only where the stock is still what its page shows. */
export function stockForms(
  request: PageRequest, product: Product, texts: StockTexts, errors: FieldErrors,
): Html {
  const here = request.link(pathOf(product));
  const number = (name: string): Html => textField({
    name, label: STOCK_LABELS[name] ?? '', value: texts[name] ?? '', errors, isRequired: true,
    inputMode: 'numeric',
  });
  const reason = (name: string): Html => textField({
    name, label: `${STOCK_LABELS[name]} (optional)`, value: texts[name] ?? '', errors,
    maxLength: 2 * REASON_LIMIT_CODE_POINTS, // in UTF-16 code units, of which one takes up to two
  });
  return html`<h3>Adjust stock</h3>
    ${postForm(request, `${here}/adjust`, html`${nonceField()}
      ${number('amount')}
      ${reason('amount_reason')}
      <div class="actions"><button name="way" value="add">Add</button>
        <button name="way" value="take" class="plain">Remove</button></div>`)}
    <hr>
    <h3>Stocktake</h3>
    ${postForm(request, `${here}/stock`, html`${nonceField()}
      <input type="hidden" name="expect" value="${product.stock}" data-live="expect">
      ${number('set')}
      ${reason('set_reason')}
      <div class="actions"><button>Set stock</button></div>`)}`;
}
