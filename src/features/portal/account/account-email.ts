/** The e-mail that somebody signs in with, and a new one. Nothing is ever sent to it. */
import { parseEmail } from '../../../domain/access/account.ts';
import { EMAIL_LIMIT_CHARACTERS } from '../../../domain/limits.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { errorSummary, postForm, textField } from '../forms/fields.ts';
import { type FieldErrors, type Form, NO_ERRORS } from '../forms/form.ts';
import { html } from '../html/html.ts';
import { confirmPassword, confirmPasswordField } from '../sign-in/confirm-password.ts';
import { redirect, renderPage } from '../html/page.ts';
import type { DraftRoute, Portal, PageRequest } from '../route.ts';

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
