/** The form that creates a product: a new one, or one that was deleted while it was edited. */
import type { Reply } from '../../../http/response/reply.ts';
import { faultSummary, postForm } from '../forms/fields.ts';
import { type Faults, NO_FAULTS } from '../forms/form.ts';
import { html, type Html } from '../html/html.ts';
import { onceField } from '../forms/form-nonce.ts';
import { renderPage } from '../html/page.ts';
import type { Portal, PageRequest } from '../route.ts';
import { PRODUCT_LABELS, productFields, type ProductTexts } from './product-form.ts';

interface Refusal {
  readonly status: number;
  readonly faults?: Faults;
  readonly detail?: string;
}

export function renderNewProduct(
  visit: PageRequest, portal: Portal, texts: ProductTexts, refusal?: Refusal,
): Reply {
  const { faults = NO_FAULTS, detail } = refusal ?? {};
  return renderPage(visit, portal, {
    title: 'New product',
    ...(refusal && { status: refusal.status }),
    content: html`${faultSummary(faults, detail, PRODUCT_LABELS)}
      <section class="card">${renderForm(visit, texts, faults)}</section>`,
  });
}

/** What becomes of an edit where the product is gone. */
export function renderGoneProduct(visit: PageRequest, portal: Portal, texts: ProductTexts): Reply {
  return renderPage(visit, portal, {
    title: 'Someone else deleted this product',
    status: 404,
    content: html`<div class="notice low" role="alert" tabindex="-1" autofocus>
        <p>It was deleted, and nothing was saved. The form below has what you typed: create a new
          product from it, or cancel.</p>
      </div>
      <section class="card">${renderForm(visit, { ...texts, stock: '0' }, NO_FAULTS)}</section>`,
  });
}

function renderForm(visit: PageRequest, texts: ProductTexts, faults: Faults): Html {
  return postForm(visit, visit.link('/products/new'), html`${onceField()}
    ${productFields(visit, texts, faults)}
    <div class="actions"><button>Create the product</button>
      <a href="${visit.link('/products')}">Cancel</a></div>`);
}
