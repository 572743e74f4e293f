/**
 * The password of somebody who is signed in, asked for again before what matters: whoever sits down
 * at a browser that was left open gets no further than to its pages.
 */
import { parseNewPassword } from '../../../domain/access/account.ts';
import { AppError } from '../../../domain/error.ts';
import { PASSWORD_MIN_CODE_POINTS } from '../../../domain/limits.ts';
import type { ParseResult } from '../../../domain/validation.ts';
import { SESSIONS_PER_SELLER_LIMIT } from '../../../store/limits.ts';
import { textField } from '../forms/fields.ts';
import type { FieldErrors, Form } from '../forms/form.ts';
import type { Html } from '../html/html.ts';
import type { PageRequest, Portal } from '../route.ts';

const FIELD = 'current_password';

/** `id` where a page has several of them. */
export function confirmPasswordField(errors: FieldErrors, id = `field-${FIELD}`): Html {
  return textField({
    name: FIELD, label: 'Your password', type: 'password', errors, id,
    autocomplete: 'current-password', isRequired: true,
  });
}

/**
 * Notes where it is wrong.
 * @throws AppError `rate_limited`, `unavailable`; `browser_refused` where the session ended while
 * it was checked, which takes long
 */
export async function confirmPassword(
  { account, user }: PageRequest, { store, passwords, limits }: Portal, form: Form,
  errors: Map<string, string>,
): Promise<void> {
  const isRight = await limits.tryAgain(account.sellerId, async () => {
    const credentials = await store.findCredentials(account.email);
    return passwords.verify(form.get(FIELD), credentials?.passwordHash);
  });
  if (!isRight) errors.set(FIELD, 'This is not your password.');
  // By its id: a form that is sent twice has given it another token by then.
  const sessions = await store.listSessions(account.sellerId, SESSIONS_PER_SELLER_LIMIT);
  if (sessions.some(({ id }) => id === user.session.id)) return;
  throw new AppError('browser_refused', 'You are not signed in any more. Nothing was changed.');
}

export function newPasswordField(name: string, label: string, errors: FieldErrors): Html {
  return textField({
    name, label, type: 'password', errors, autocomplete: 'new-password', isRequired: true,
    hint: `At least ${PASSWORD_MIN_CODE_POINTS} characters. A sentence of a few words is good.`,
  });
}

/** It may not consist of what everybody knows of its owner. */
export function readNewPassword(
  form: Form, name: string, { shop, email }: { readonly shop: string; readonly email: string },
): ParseResult<string> {
  return parseNewPassword(form.get(name), [shop, email, email.split('@')[0] ?? '']);
}
