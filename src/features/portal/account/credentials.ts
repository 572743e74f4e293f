/**
 * Changing the e-mail and the password. The server sends no mail. A new password signs out all
 * other browsers and gives this one a new session token.
 */
import { parseEmail } from '../../../domain/access/account.ts';
import { EMAIL_LIMIT_CHARACTERS } from '../../../domain/limits.ts';
import type { Field } from '../forms/fields.ts';
import { defineForm, renderFormPage } from '../forms/form-page.ts';
import { takeValue } from '../forms/form.ts';
import { html } from '../html/html.ts';
import { redirect } from '../html/page.ts';
import { rememberDevice } from '../sign-in/device.ts';
import {
  CURRENT_PASSWORD, newPasswordField, parsePasswordField,
} from '../sign-in/password-fields.ts';
import { formatSessionToken, makeSessionSecret } from '../sign-in/session.ts';

const EMAIL_FIELDS: readonly Field[] = [
  {
    name: 'email', label: 'New e-mail', type: 'email', autocomplete: 'email', isRequired: true,
    maxLength: EMAIL_LIMIT_CHARACTERS,
  },
  CURRENT_PASSWORD,
];
const PASSWORD_FIELDS = [CURRENT_PASSWORD, newPasswordField('new_password', 'New password')];

/** GET /portal/account/email: 200. POST: 303, 422, 429, 503 */
export const emailForm = defineForm({
  fields: EMAIL_FIELDS,
  render: (request, portal, state) => renderFormPage(request, portal, {
    title: 'Change e-mail', action: '/account/email', cancel: '/account', submit: 'Change e-mail',
    fields: EMAIL_FIELDS,
    before: html`<p>Current e-mail: <strong>${request.account.email}</strong></p>`,
  }, state),
  read: (form, errors) => takeValue(errors, 'email', parseEmail(form.get('email')), ''),
  async save(email, { account, by, link }, { store }, { errors }) {
    const isSaved = await store.setEmail(account, email, by);
    if (isSaved) return redirect(link('/account?done=email'));
    errors.set('email', 'Another account already uses this e-mail.');
    return undefined;
  },
});

/** GET /portal/account/password: 200. POST: 303, 422, 429, 503 */
export const passwordForm = defineForm({
  fields: PASSWORD_FIELDS,
  render: (request, portal, state) => renderFormPage(request, portal, {
    title: 'Change password', action: '/account/password', cancel: '/account',
    submit: 'Change password', fields: PASSWORD_FIELDS,
    before: html`<p>Changing your password signs out all your other browsers.</p>`,
    // For password managers.
    hidden: html`<input type="text" name="username" value="${request.account.email}"
      autocomplete="username" hidden>`,
  }, state),
  read(form, errors, { account: { sellerName, email } }) {
    const parsed = parsePasswordField(form, 'new_password', sellerName, email);
    return takeValue(errors, 'new_password', parsed, '');
  },
  async save(password, request, portal) {
    const { account, user, by } = request;
    const passwordHash = await portal.passwords.hash(password);
    const { hash, secret } = makeSessionSecret();
    await portal.store.setPassword(account, passwordHash, { id: user.session.id, hash }, by);
    const { cookie } = formatSessionToken(account.sellerId, secret);
    const device = await rememberDevice(request, portal, { ...account, passwordHash });
    return redirect(request.link('/account?done=password'), [cookie, ...device]);
  },
});
