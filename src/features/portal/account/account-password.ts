/** A new password: it signs out all other browsers, and gives this one a new session token. */
import { parseEmail } from '../../../domain/access/account.ts';
import { EMAIL_LIMIT_CHARACTERS } from '../../../domain/limits.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { errorSummary, postForm, textField } from '../forms/fields.ts';
import { type FieldErrors, type Form, NO_ERRORS } from '../forms/form.ts';
import { html } from '../html/html.ts';
import { redirect, renderPage } from '../html/page.ts';
import type { DraftRoute, PageRequest, Portal } from '../route.ts';
import { rememberDevice } from '../sign-in/complete-sign-in.ts';
import {
  confirmPassword, confirmPasswordField, newPasswordField, readNewPassword,
} from '../sign-in/confirm-password.ts';
import { makeSessionToken } from '../sign-in/session.ts';

/** GET /portal/account/password: 200 */
export async function showPassword(request: PageRequest, portal: Portal): Promise<Reply> {
  return renderPassword(request, portal, NO_ERRORS);
}

/** POST /portal/account/password: 303, 422, 429, 503 */
export async function changePassword(
  request: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const { account, user, address } = request;
  const { sellerId, sellerName, email } = account;
  const errors = new Map<string, string>();
  const parsed = readNewPassword(form, 'new_password', { shop: sellerName, email });
  if ('error' in parsed) errors.set('new_password', parsed.error.detail);
  await confirmPassword(request, portal, form, errors);
  if (errors.size > 0 || 'error' in parsed) return renderPassword(request, portal, errors);
  const passwordHash = await portal.passwords.hash(parsed.value);
  const { hash, cookie } = makeSessionToken();
  await portal.store.setPassword(
    sellerId, passwordHash, { id: user.session.id, hash }, address,
  );
  const device = await rememberDevice(request, portal, { sellerId, passwordHash });
  return redirect(request.link('/account?done=password'), [cookie, ...device]);
}

function renderPassword(request: PageRequest, portal: Portal, errors: FieldErrors): Reply {
  return renderPage(request, portal, {
    title: 'Change the password',
    status: errors.size === 0 ? 200 : 422,
    content: html`${errorSummary(errors)}
      <p>All other browsers are signed out.</p>
      <div class="card">${postForm(request, request.link('/account/password'), html`
        <input type="text" name="username" value="${request.account.email}" autocomplete="username"
          hidden>
        ${confirmPasswordField(errors)}
        ${newPasswordField('new_password', 'New password', errors)}
        <div class="actions"><button>Change the password</button>
          <a class="button" href="${request.link('/account')}">Leave it</a></div>`)}</div>`,
  });
}

/** GET /portal/account/email: 200 */
export async function showEmail(request: PageRequest, portal: Portal): Promise<Reply> {
  return renderEmail(request, portal, '', NO_ERRORS);
}

/** POST /portal/account/email: 303, 422, 429, 503 */
export async function changeEmail(
  request: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const errors = new Map<string, string>();
  const parsed = parseEmail(form.get('email'));
  if ('error' in parsed) errors.set('email', parsed.error.detail);
  await confirmPassword(request, portal, form, errors);
  if (errors.size === 0 && 'value' in parsed) {
    const { account: { sellerId }, address } = request;
    if (await portal.store.setEmail(sellerId, parsed.value, address)) {
      return redirect(request.link('/account?done=email'));
    }
    errors.set('email', 'This e-mail has another account here.');
  }
  return renderEmail(request, portal, form.get('email'), errors);
}

export const emailDraft: DraftRoute = {
  fields: ['email'],
  show: async (request, portal, form) => renderEmail(request, portal, form.get('email'), NO_ERRORS),
};

function renderEmail(
  request: PageRequest, portal: Portal, email: string, errors: FieldErrors,
): Reply {
  return renderPage(request, portal, {
    title: 'Change the e-mail',
    status: errors.size === 0 ? 200 : 422,
    content: html`${errorSummary(errors)}
      <p>You sign in with <strong>${request.account.email}</strong>.</p>
      <div class="card">${postForm(request, request.link('/account/email'), html`
        ${textField({
    name: 'email', label: 'New e-mail', type: 'email', value: email, errors,
    autocomplete: 'email', isRequired: true, maxLength: EMAIL_LIMIT_CHARACTERS,
  })}
        ${confirmPasswordField(errors)}
        <div class="actions"><button>Change the e-mail</button>
          <a class="button" href="${request.link('/account')}">Leave it</a></div>`)}</div>`,
  });
}
