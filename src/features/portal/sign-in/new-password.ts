/** A password that somebody chooses: its field, and whether it may be taken. */
import { parseNewPassword } from '../../../domain/access/account.ts';
import { PASSWORD_MIN_CODE_POINTS } from '../../../domain/limits.ts';
import type { ParseResult } from '../../../domain/validation.ts';
import { textField } from '../forms/fields.ts';
import type { FieldErrors, Form } from '../forms/form.ts';
import type { Html } from '../html/html.ts';

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
