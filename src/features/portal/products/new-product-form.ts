/** The form that creates a product: a new one, or one that was deleted while it was edited. */
import type { Reply } from '../../../http/response/reply.ts';
import { errorSummary, postForm } from '../forms/fields.ts';
import { type FieldErrors, NO_ERRORS, nonceField } from '../forms/form.ts';
import { html, type Html } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import type { Portal, PageRequest } from '../route.ts';
import { PRODUCT_LABELS, productFields, type ProductTexts } from './product-form.ts';

interface Refusal {
  readonly status: number;
  readonly errors?: FieldErrors;
  readonly detail?: string;
}

export function renderNewProduct(
  request: PageRequest, portal: Portal, texts: ProductTexts, refusal?: Refusal,
): Reply {
  const { errors = NO_ERRORS, detail } = refusal ?? {};
  return renderPage(request, portal, {
    title: 'New product',
    ...(refusal && { status: refusal.status }),
    content: html`${errorSummary(errors, detail, PRODUCT_LABELS)}
      <section class="card">${renderForm(request, texts, errors)}</section>`,
  });
}

/** What becomes of an edit where the product is gone. */
export function renderGoneProduct(
  request: PageRequest, portal: Portal, texts: ProductTexts,
): Reply {
  return renderPage(request, portal, {
    title: 'Someone else deleted this product',
    status: 404,
    content: html`<div class="notice low" role="alert" tabindex="-1" autofocus>
        <p>Your changes were not saved. The form below has what you entered: create a new product
          from it, or cancel.</p>
      </div>
      <section class="card">${renderForm(request, { ...texts, stock: '0' }, NO_ERRORS)}</section>`,
  });
}

function renderForm(request: PageRequest, texts: ProductTexts, errors: FieldErrors): Html {
  return postForm(request, request.link('/products/new'), html`${nonceField()}
    ${productFields(request, texts, errors)}
    <div class="actions"><button>Create product</button>
      <a href="${request.link('/products')}">Cancel</a></div>`);
}
