/** A new password: it signs out all other browsers, and gives this one a new session token. */
import type { Reply } from '../../../http/response/reply.ts';
import { rememberDevice } from '../sign-in/complete-sign-in.ts';
import { errorSummary, postForm } from '../forms/fields.ts';
import { type FieldErrors, type Form, NO_ERRORS } from '../forms/form.ts';
import { html } from '../html/html.ts';
import { newPasswordField, readNewPassword } from '../sign-in/new-password.ts';
import { confirmPassword, confirmPasswordField } from '../sign-in/confirm-password.ts';
import { redirect, renderPage } from '../html/page.ts';
import type { Portal, PageRequest } from '../route.ts';
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
