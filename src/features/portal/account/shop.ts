/** The shop's settings: its low-stock threshold. They are the same for everyone who signs in. */
import { parseLowStock } from '../../../domain/access/account.ts';
import type { Field } from '../forms/fields.ts';
import { defineForm, renderFormPage } from '../forms/form-page.ts';
import { takeValue } from '../forms/form.ts';
import { redirect } from '../html/page.ts';

const FIELDS: readonly Field[] = [
  {
    name: 'low_stock', label: 'Low-stock threshold', inputMode: 'numeric', isRequired: true,
    maxLength: 10, hint: 'Products at or below this stock are marked as low.',
  },
];

/** GET /portal/account/shop: 200. POST: 303, 422 */
export const shopForm = defineForm({
  fields: FIELDS,
  render: (request, portal, state) => renderFormPage(request, portal, {
    title: 'Shop settings', action: '/account/shop', cancel: '/account', submit: 'Save settings',
    fields: FIELDS,
  }, state),
  initial: ({ account: { lowStock } }) => ({ low_stock: String(lowStock) }),
  read: (form, errors) =>
    takeValue(errors, 'low_stock', parseLowStock(form.get('low_stock')), 0),
  async save(lowStock, { account: { sellerId }, by, link }, { store }) {
    await store.setShopSettings(sellerId, { lowStock }, by);
    return redirect(link('/account?done=shop'));
  },
});
