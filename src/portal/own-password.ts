/**
 * The password of somebody who is signed in, asked for again before what matters: whoever sits down
 * at a browser that was left open gets no further than to its pages.
 */
import { textField } from './fields.ts';
import type { Faults, Form } from './form.ts';
import type { Html } from './html.ts';
import type { Portal, Visit } from './route.ts';

const FIELD = 'current_password';

/** `id` where a page has several of them. */
export function ownPasswordField(faults: Faults, id = `field-${FIELD}`): Html {
  return textField({
    name: FIELD, label: 'Your password', type: 'password', faults, id,
    autocomplete: 'current-password', isRequired: true,
  });
}

/** Notes where it is wrong. @throws AppError `rate_limited`, `unavailable` */
export async function checkOwnPassword(
  { account }: Visit, { store, passwords, limits }: Portal, form: Form,
  faults: Map<string, string>,
): Promise<void> {
  const isRight = await limits.tryAgain(account.sellerId, async () => {
    const credentials = await store.findCredentials(account.email);
    return passwords.verify(form.get(FIELD), credentials?.passwordHash);
  });
  if (!isRight) faults.set(FIELD, 'This is not your password.');
}
