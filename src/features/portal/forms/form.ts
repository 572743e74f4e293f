/**
 * Posted forms: `application/x-www-form-urlencoded` (WHATWG URL, section 5). A form with a nonce
 * takes effect once: the nonce becomes the write's idempotency key, so the store recognizes a
 * double click or a reload.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Account, AccountReference } from '../../../domain/access/account.ts';
import { AppError, type Issue } from '../../../domain/error.ts';
import { PORTAL_KEY_ID } from '../../../domain/id.ts';
import type { Generation } from '../../../domain/revision.ts';
import type { ParseResult } from '../../../domain/validation.ts';
import { readBody, readMediaType } from '../../../http/request/body.ts';
import type { Actor, Idempotency, WriteContext } from '../../../store/write.ts';
import { html, type Html } from '../html/html.ts';
import { FORM_FIELDS_LIMIT, FORM_LIMIT_BYTES } from '../limits.ts';

const FORM_TYPE = 'application/x-www-form-urlencoded';
const NONCE_FIELD = 'once';
const NONCE = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

const ALREADY_SUBMITTED = 'You already submitted this form with different values, which were '
  + 'saved. To save these values as well, submit the form again.';

/** Error messages by field name. */
export type FieldErrors = ReadonlyMap<string, string>;

export const NO_ERRORS: FieldErrors = new Map();

export class Form extends URLSearchParams {
  /** Empty if the field was not sent. */
  override get(name: string): string {
    return super.get(name) ?? '';
  }

  /** The value without surrounding white space. */
  getTrimmed(name: string): string {
    return this.get(name).trim();
  }
}

/** The content of a rendered form: values and errors. */
export interface FormState {
  readonly form: Form;
  readonly errors: FieldErrors;
  /** An error about the whole form. */
  readonly detail?: string | undefined;
  readonly status?: number;
}

/** By name; as pairs, a name may have several. */
export type Values = Record<string, string> | [name: string, value: string][];

/** A form that shows `values` and no errors. */
export function initialState(values: Values = {}): FormState {
  return { form: new Form(values), errors: NO_ERRORS };
}

/**
 * @throws AppError `unsupported_media_type`, `body_too_large`, `request_timeout`, `invalid_data`
 */
export async function readForm(request: IncomingMessage): Promise<Form> {
  readMediaType(request, [FORM_TYPE]);
  const body = await readBody(request, FORM_LIMIT_BYTES);
  const form = new Form(body.toString());
  if (form.size <= FORM_FIELDS_LIMIT) return form;
  throw new AppError('invalid_data', `A form may have at most ${FORM_FIELDS_LIMIT} fields.`);
}

/** Returns the parsed value, or adds its error to `errors` and returns `fallback`. */
export function takeValue<Value>(
  errors: Map<string, string>, name: string, parsed: ParseResult<Value>, fallback: Value,
): Value {
  if ('value' in parsed) return parsed.value;
  errors.set(name, parsed.error.detail);
  return fallback;
}

/** Maps an API error's issues to fields: the first segment of a pointer is the field name. */
export function fieldErrorsFrom(issues: readonly Issue[]): FieldErrors {
  const errors = new Map<string, string>();
  for (const { pointer = '', detail } of issues) {
    const name = pointer.split('/')[1] ?? '';
    if (!errors.has(name)) errors.set(name, detail);
  }
  return errors;
}

/** The form state for an API error that the user can fix; rethrows any other error. */
export function rejectedState(form: Form, error: unknown): FormState {
  if (error instanceof AppError) {
    const { code, issues, publicDetail: detail } = error;
    if (code === 'invalid_data' && issues.length > 0) {
      return { form, errors: fieldErrorsFrom(issues) };
    }
    if (code === 'sku_taken') return { form, errors: new Map([['sku', detail]]) };
    if (code === 'history_pruned') return { form, errors: new Map([['position', detail]]) };
    if (code === 'limit_reached') return { form, errors: NO_ERRORS, detail, status: 409 };
    if (code === 'write_rejected') return { form, errors: NO_ERRORS, detail, status: 422 };
    if (code === 'idempotency_mismatch') {
      return { form, errors: NO_ERRORS, detail: ALREADY_SUBMITTED, status: 409 };
    }
  }
  throw error;
}

export function hiddenField(name: string, value: string | number): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`;
}

/** The hidden nonce field, with a new nonce each time the form is shown. */
export function nonceField(): Html {
  return hiddenField(NONCE_FIELD, randomUUID());
}

/**
 * A form's idempotency key. The error `idempotency_mismatch` means that its nonce was already used
 * with other values. @throws AppError `invalid_data` for a malformed nonce
 */
export function readNonce(form: Form): Idempotency {
  const id = form.get(NONCE_FIELD);
  if (NONCE.test(id)) return { key: `portal:${id}`, part: 0 };
  throw new AppError(
    'invalid_data', 'Nothing was changed. Reload the page and submit the form again.',
  );
}

/** The part of a request that its changes name. */
interface Sender {
  readonly account: Account;
  readonly address: string;
  readonly generation?: Generation;
}

/**
 * The write context of a signed-in user. With a form, the mutation runs once, however often the
 * form is submitted.
 * @throws AppError `invalid_data` for a form without a valid nonce
 */
export function toWriteContext(user: Sender, form?: Form): WriteContext {
  const idempotency = form && readNonce(form);
  return { ...toActor(user), idempotency };
}

/** Who makes the changes of a signed-in user: the portal, in the account's name. */
export function toActor(
  { account: { sellerId, accountId, name }, address, generation }: Sender,
): Actor & AccountReference {
  return { sellerId, keyId: PORTAL_KEY_ID, actorName: name, generation, accountId, address };
}
