/**
 * Changing the e-mail and the password. No mail is ever sent to the e-mail. A new password signs
 * out all other browsers and gives this one a new session token.
 */
import { parseEmail } from '../../../domain/access/account.ts';
import { EMAIL_LIMIT_CHARACTERS } from '../../../domain/limits.ts';
import type { Reply } from '../../../http/response/reply.ts';
import type { Field } from '../forms/fields.ts';
import { makeDraftRoute, renderFormPage } from '../forms/form-page.ts';
import { type Form, type FormState, initialState, takeValue } from '../forms/form.ts';
import { html } from '../html/html.ts';
import { redirect } from '../html/page.ts';
import type { PageRequest, Portal } from '../route.ts';
import { rememberDevice } from '../sign-in/complete-sign-in.ts';
import {
  confirmPassword, CURRENT_PASSWORD, newPasswordField, parsePasswordField,
} from '../sign-in/password-fields.ts';
import { makeSessionToken } from '../sign-in/session.ts';

const EMAIL_FIELDS: readonly Field[] = [
  {
    name: 'email', label: 'New e-mail', type: 'email', autocomplete: 'email', isRequired: true,
    maxLength: EMAIL_LIMIT_CHARACTERS,
  },
  CURRENT_PASSWORD,
];
const PASSWORD_FIELDS = [CURRENT_PASSWORD, newPasswordField('new_password', 'New password')];

/** GET /portal/account/email: 200 */
export async function showEmail(request: PageRequest, portal: Portal): Promise<Reply> {
  return renderEmail(request, portal, initialState());
}

/** POST /portal/account/email: 303, 422, 429, 503 */
export async function changeEmail(
  request: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const { account: { sellerId }, address } = request;
  const errors = new Map<string, string>();
  const email = takeValue(errors, 'email', parseEmail(form.get('email')), '');
  await confirmPassword(request, portal, form, errors);
  if (errors.size === 0) {
    if (await portal.store.setEmail(sellerId, email, address)) {
      return redirect(request.link('/account?done=email'));
    }
    errors.set('email', 'This e-mail already belongs to another account.');
  }
  return renderEmail(request, portal, { form, errors });
}

export const emailDraft = makeDraftRoute(EMAIL_FIELDS, renderEmail);

function renderEmail(request: PageRequest, portal: Portal, state: FormState): Reply {
  return renderFormPage(request, portal, {
    title: 'Change e-mail', action: '/account/email', cancel: '/account', submit: 'Change e-mail',
    fields: EMAIL_FIELDS,
    before: html`<p>Your current e-mail is <strong>${request.account.email}</strong>.</p>`,
  }, state);
}

/** GET /portal/account/password: 200 */
export async function showPassword(request: PageRequest, portal: Portal): Promise<Reply> {
  return renderPassword(request, portal, initialState());
}

/** POST /portal/account/password: 303, 422, 429, 503 */
export async function changePassword(
  request: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const { account: { sellerId, sellerName, email }, user, address } = request;
  const errors = new Map<string, string>();
  const parsed = parsePasswordField(form, 'new_password', { shop: sellerName, email });
  const password = takeValue(errors, 'new_password', parsed, '');
  await confirmPassword(request, portal, form, errors);
  if (errors.size > 0) return renderPassword(request, portal, { form, errors });
  const passwordHash = await portal.passwords.hash(password);
  const { hash, cookie } = makeSessionToken();
  await portal.store.setPassword(sellerId, passwordHash, { id: user.session.id, hash }, address);
  const device = await rememberDevice(request, portal, { sellerId, passwordHash });
  return redirect(request.link('/account?done=password'), [cookie, ...device]);
}

function renderPassword(request: PageRequest, portal: Portal, state: FormState): Reply {
  return renderFormPage(request, portal, {
    title: 'Change password', action: '/account/password', cancel: '/account',
    submit: 'Change password', fields: PASSWORD_FIELDS,
    before: html`<p>Changing the password signs out all your other browsers.</p>`,
    // Tells password managers which account the new password is for.
    hidden: html`<input type="text" name="username" value="${request.account.email}"
      autocomplete="username" hidden>`,
  }, state);
}
