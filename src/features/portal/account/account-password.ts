/** A new password: it signs out all other browsers, and gives this one a new session token. */
import type { Reply } from '../../../http/response/reply.ts';
import { rememberDevice } from '../sign-in/complete-sign-in.ts';
import { faultSummary, postForm } from '../forms/fields.ts';
import { type Faults, type Form, NO_FAULTS } from '../forms/form.ts';
import { html } from '../html/html.ts';
import { newPasswordField, readNewPassword } from '../sign-in/new-password.ts';
import { checkOwnPassword, ownPasswordField } from '../sign-in/confirm-password.ts';
import { redirect, renderPage } from '../html/page.ts';
import type { Portal, PageRequest } from '../route.ts';
import { makeSessionToken } from '../sign-in/session.ts';

/** GET /portal/account/password: 200 */
export async function showPassword(visit: PageRequest, portal: Portal): Promise<Reply> {
  return renderPassword(visit, portal, NO_FAULTS);
}

/** POST /portal/account/password: 303, 422, 429, 503 */
export async function changePassword(
  visit: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const { account, visitor, address } = visit;
  const { sellerId, sellerName, email } = account;
  const faults = new Map<string, string>();
  const parsed = readNewPassword(form, 'new_password', { shop: sellerName, email });
  if ('error' in parsed) faults.set('new_password', parsed.error.detail);
  await checkOwnPassword(visit, portal, form, faults);
  if (faults.size > 0 || 'error' in parsed) return renderPassword(visit, portal, faults);
  const passwordHash = await portal.passwords.hash(parsed.value);
  const { hash, cookie } = makeSessionToken();
  await portal.store.setPassword(
    sellerId, passwordHash, { id: visitor.session.id, hash }, address,
  );
  const device = await rememberDevice(visit, portal, { sellerId, passwordHash });
  return redirect(visit.link('/account?done=password'), [cookie, ...device]);
}

function renderPassword(visit: PageRequest, portal: Portal, faults: Faults): Reply {
  return renderPage(visit, portal, {
    title: 'Change the password',
    status: faults.size === 0 ? 200 : 422,
    content: html`${faultSummary(faults)}
      <p>All other browsers are signed out.</p>
      <div class="card">${postForm(visit, visit.link('/account/password'), html`
        <input type="text" name="username" value="${visit.account.email}" autocomplete="username"
          hidden>
        ${ownPasswordField(faults)}
        ${newPasswordField('new_password', 'New password', faults)}
        <div class="actions"><button>Change the password</button>
          <a class="button" href="${visit.link('/account')}">Leave it</a></div>`)}</div>`,
  });
}
