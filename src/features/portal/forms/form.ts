/** A form as a browser sends it: `application/x-www-form-urlencoded` (WHATWG URL, section 5). */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Account } from '../../../domain/access/account.ts';
import { AppError, type Issue } from '../../../domain/error.ts';
import { PORTAL_KEY_ID } from '../../../domain/id.ts';
import { readBody, readMediaType } from '../../../http/request/body.ts';
import type { Idempotency, WriteContext } from '../../../store/write.ts';
import { html, type Html } from '../html/html.ts';
import { FORM_FIELDS_LIMIT, FORM_LIMIT_BYTES } from '../limits.ts';

const FORM_TYPE = 'application/x-www-form-urlencoded';

/** What is wrong with the fields of a form, by their names. */
export type FieldErrors = ReadonlyMap<string, string>;

export const NO_ERRORS: FieldErrors = new Map();

export class Form {
  readonly #fields: URLSearchParams;

  constructor(fields = new URLSearchParams()) {
    this.#fields = fields;
  }

  /** Empty for a field that was not sent. */
  get(name: string): string {
    return this.#fields.get(name) ?? '';
  }

  /** Without white space around it. */
  getTrimmed(name: string): string {
    return this.get(name).trim();
  }

  /** All values of a field, such as those of boxes that were ticked. */
  getAll(name: string): readonly string[] {
    return this.#fields.getAll(name);
  }

  has(name: string): boolean {
    return this.#fields.has(name);
  }
}

/**
 * @throws AppError `unsupported_media_type`, `body_too_large`, `request_timeout`, `invalid_data`
 */
export async function readForm(request: IncomingMessage): Promise<Form> {
  readMediaType(request, [FORM_TYPE]);
  const body = await readBody(request, FORM_LIMIT_BYTES);
  const fields = new URLSearchParams(body.toString());
  if (fields.size <= FORM_FIELDS_LIMIT) return new Form(fields);
  throw new AppError('invalid_data', `A form may have at most ${FORM_FIELDS_LIMIT} fields.`);
}

/** The issues of a refusal by the first part of their pointers: what the fields are called. */
export function fieldErrorsFrom(issues: readonly Issue[]): FieldErrors {
  const errors = new Map<string, string>();
  for (const { pointer = '', detail } of issues) {
    const name = pointer.split('/')[1] ?? '';
    if (!errors.has(name)) errors.set(name, detail);
  }
  return errors;
}

const FIELD = 'once';
const ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** The hidden field; made anew each time that its form is shown. */
export function nonceField(): Html {
  return html`<input type="hidden" name="${FIELD}" value="${randomUUID()}">`;
}

/** Whether the store refused a form because it had been sent before. */
export function isDuplicateSubmission(error: unknown): boolean {
  return error instanceof AppError && error.code === 'idempotency_mismatch';
}

/**
 * The context of a mutation by a signed-in user. With a form, the mutation is made once, however
 * often the form is sent.
 * @throws AppError `invalid_data` for a form without a valid nonce
 */
export function toWriteContext(
  { account: { sellerId }, address }: { readonly account: Account; readonly address: string },
  form?: Form,
): WriteContext {
  const idempotency = form && readNonce(form);
  return { sellerId, keyId: PORTAL_KEY_ID, address, idempotency };
}

/** What was sent with it. @throws AppError `invalid_data` for what no page has */
export function readNonce(form: Form): Idempotency {
  const id = form.get(FIELD);
  if (ID.test(id)) return { key: `portal:${id}`, part: 0 };
  throw new AppError('invalid_data', 'Nothing was changed. Open the page anew, and send it again.');
}
