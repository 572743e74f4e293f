/** Creates a product, also from an edit of a product that someone else deleted. */
import { parseNewProduct } from '../../../domain/catalogue/product.ts';
import type { NewProduct } from '../../../domain/catalogue/product-fields.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { didChange } from '../history/undo.ts';
import { defineForm, renderFormPage } from '../forms/form-page.ts';
import { Form, type FormState, NO_ERRORS, nonceField, toWriteContext } from '../forms/form.ts';
import { alert } from '../html/elements.ts';
import { type Content, html } from '../html/html.ts';
import { redirect } from '../html/page.ts';
import type { PageRequest, Portal } from '../route.ts';
import { CREATED_FIELDS, describeFields, inputNames, readProduct } from './product-form.ts';
import { pathOf } from './product-path.ts';

/** GET /portal/products/new: 200. POST: 303, 400, 409, 422 */
export const newProductForm = defineForm<NewProduct>({
  fields: inputNames(CREATED_FIELDS).map((name) => ({ name, label: name })),
  render: (request, portal, state) => renderForm(request, portal, state),
  read: (form, errors, request) =>
    readProduct(form, errors, request, { fields: CREATED_FIELDS, parse: parseNewProduct }),
  async save(product, request, portal, { form }) {
    const write = toWriteContext(request, form);
    const { id, position } = await portal.store.createProduct(write, product);
    const path = pathOf({ sellerId: write.sellerId, id });
    return redirect(request.link(path, didChange(position)));
  },
});

/** The response to an edit of a deleted product. */
export function renderGoneProduct(request: PageRequest, portal: Portal, form: Form): Reply {
  return renderForm(request, portal, {
    form: new Form([...form, ['stock', '0']]), errors: NO_ERRORS, status: 404,
  }, {
    title: 'Someone else deleted this product',
    before: alert('low', html`
        <p>Your changes were not saved. The form below keeps your input: create a new product from
          it, or cancel.</p>`),
  });
}

function renderForm(
  request: PageRequest, portal: Portal, state: FormState,
  page: { readonly title: string; readonly before?: Content } = { title: 'New product' },
): Reply {
  return renderFormPage(request, portal, {
    ...page, action: '/products/new', cancel: '/products', submit: 'Create product',
    fields: describeFields(request, CREATED_FIELDS), hidden: nonceField(),
  }, state);
}
