/**
 * Forms that are sent once: each is shown with a random id, by which the store knows a double click
 * or a reload for what it is.
 */
import { randomUUID } from 'node:crypto';
import { AppError } from '../../../domain/error.ts';
import type { Idempotency } from '../../../store/write.ts';
import type { Form } from './form.ts';
import { html, type Html } from '../html/html.ts';

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

/** What was sent with it. @throws AppError `invalid_data` for what no page has */
export function readNonce(form: Form): Idempotency {
  const id = form.get(FIELD);
  if (ID.test(id)) return { key: `portal:${id}`, part: 0 };
  throw new AppError('invalid_data', 'Nothing was changed. Open the page anew, and send it again.');
}
