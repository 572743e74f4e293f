/**
 * Password fields. Security settings change only after the signed-in user enters the password
 * again, so someone who finds an unlocked browser cannot take over the account.
 */
import { parseNewPassword } from '../../../domain/access/new-password.ts';
import { AppError } from '../../../domain/error.ts';
import { PASSWORD_MIN_CODE_POINTS } from '../../../domain/limits.ts';
import type { ParseResult } from '../../../domain/validation.ts';
import { SESSIONS_PER_ACCOUNT_LIMIT } from '../../../store/limits.ts';
import type { Field } from '../forms/fields.ts';
import type { Form } from '../forms/form.ts';
import { type Content, html } from '../html/html.ts';
import type { AnonymousPageRequest, PageRequest, Portal } from '../route.ts';
import { COPIED_PASSKEY, readUse } from './passkeys.ts';
import { passwordClient } from './rate-limits.ts';

/** Set an `id` if the page has several. */
export const CURRENT_PASSWORD = {
  name: 'current_password', label: 'Current password', type: 'password',
  autocomplete: 'current-password', isRequired: true,
} as const satisfies Field;

/**
 * Checks the current password, or the assertion of a passkey instead, and adds an error if it is
 * wrong. @param isPasskeyOnly Whether a password is not accepted.
 * @throws AppError `rate_limited`, `unavailable`; `browser_refused` if the session ended during the
 * check, which is slow
 */
export async function confirmPassword(
  request: PageRequest, portal: Portal, form: Form, errors: Map<string, string>,
  isPasskeyOnly = false,
): Promise<void> {
  const { account, user } = request;
  const { name } = CURRENT_PASSWORD;
  const { store, passwords, limits } = portal;
  let detail = 'Incorrect password.';
  const isRight = await limits.tryConfirmation(account, async () => {
    if (form.get('credential_id') === '') { // without a passkey's assertion
      if (isPasskeyOnly) detail = 'Confirm this with one of your passkeys.';
      if (isPasskeyOnly) return false;
      const credentials = await store.findCredentials(account.email);
      const client = passwordClient(account, request.disconnectSignal());
      return passwords.verify(form.get(name), credentials?.passwordHash, client);
    }
    const used = await readUse(request, portal, form, { account, purpose: 'confirm' });
    detail = 'detail' in used ? used.detail : COPIED_PASSKEY;
    return 'value' in used && await store.notePasskeyUse(account, used.value);
  });
  if (!isRight) errors.set(name, detail);
  // By id: if the form was sent twice, the session may already have a new token.
  const sessions = await store.listSessions(account, SESSIONS_PER_ACCOUNT_LIMIT);
  if (sessions.some(({ id }) => id === user.session.id)) return;
  throw new AppError('browser_refused', 'Your session has ended. Nothing was changed.');
}

/**
 * A button to confirm with a passkey, for accounts that have one: it fills in the form around it.
 * The page needs the script `passkey.js`. @param label If a password is not accepted.
 */
export function passkeyButton(
  request: AnonymousPageRequest | PageRequest, label?: string,
): Content {
  if (!('account' in request) || request.account.passkeys === 0) return undefined;
  return html`<p class="fault" role="alert" data-passkey-error hidden></p>
    ${label !== undefined
      && html`<noscript><p class="notice low">Using a passkey needs JavaScript.</p></noscript>`}
    <button type="button" data-passkey="get"${label !== undefined && html` class="primary"`}
      data-options="${request.link('/account/passkeys/options')}" hidden>${
  label === undefined ? 'Use a passkey instead' : `${label} with a passkey`}</button>`;
}

export function newPasswordField(name: string, label: string): Field {
  return {
    name, label, type: 'password', autocomplete: 'new-password', isRequired: true,
    hint: `At least ${PASSWORD_MIN_CODE_POINTS} characters. A phrase of several words works well.`,
  };
}

/** Rejects a password that consists of the shop's name or the e-mail. */
export function parsePasswordField(
  form: Form, name: string, shop: string, email: string,
): ParseResult<string> {
  return parseNewPassword(form.get(name), [shop, email, email.split('@')[0] ?? '']);
}
