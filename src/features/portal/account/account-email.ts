/** The e-mail that somebody signs in with, and a new one. Nothing is ever sent to it. */
import { parseEmail } from '../../../domain/access/account.ts';
import { EMAIL_LIMIT_CHARACTERS } from '../../../domain/limits.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { faultSummary, postForm, textField } from '../forms/fields.ts';
import { type Faults, type Form, NO_FAULTS } from '../forms/form.ts';
import { html } from '../html/html.ts';
import { checkOwnPassword, ownPasswordField } from '../sign-in/confirm-password.ts';
import { redirect, renderPage } from '../html/page.ts';
import type { DraftRoute, Portal, PageRequest } from '../route.ts';

/** GET /portal/account/email: 200 */
export async function showEmail(visit: PageRequest, portal: Portal): Promise<Reply> {
  return renderEmail(visit, portal, '', NO_FAULTS);
}

/** POST /portal/account/email: 303, 422, 429, 503 */
export async function changeEmail(visit: PageRequest, portal: Portal, form: Form): Promise<Reply> {
  const faults = new Map<string, string>();
  const parsed = parseEmail(form.get('email'));
  if ('error' in parsed) faults.set('email', parsed.error.detail);
  await checkOwnPassword(visit, portal, form, faults);
  if (faults.size === 0 && 'value' in parsed) {
    const { account: { sellerId }, address } = visit;
    if (await portal.store.setEmail(sellerId, parsed.value, address)) {
      return redirect(visit.link('/account?done=email'));
    }
    faults.set('email', 'This e-mail has another account here.');
  }
  return renderEmail(visit, portal, form.get('email'), faults);
}

export const emailDraft: DraftRoute = {
  fields: ['email'],
  show: async (visit, portal, form) => renderEmail(visit, portal, form.get('email'), NO_FAULTS),
};

function renderEmail(visit: PageRequest, portal: Portal, email: string, faults: Faults): Reply {
  return renderPage(visit, portal, {
    title: 'Change the e-mail',
    status: faults.size === 0 ? 200 : 422,
    content: html`${faultSummary(faults)}
      <p>You sign in with <strong>${visit.account.email}</strong>.</p>
      <div class="card">${postForm(visit, visit.link('/account/email'), html`
        ${textField({
    name: 'email', label: 'New e-mail', type: 'email', value: email, faults,
    autocomplete: 'email', isRequired: true, maxLength: EMAIL_LIMIT_CHARACTERS,
  })}
        ${ownPasswordField(faults)}
        <div class="actions"><button>Change the e-mail</button>
          <a class="button" href="${visit.link('/account')}">Leave it</a></div>`)}</div>`,
  });
}
