/**
 * Drafts: the input of forms whose session ended. A draft travels through the sign-in as a hidden
 * field, encrypted with the server's key; the server stores nothing. It is valid in one browser,
 * for one account, for an hour. The server only shows it again in its form: saving takes a new
 * submission with the new session's token.
 */
import type { AccountReference } from '../../../domain/access/account.ts';
import { formatUserHandle, parseUserHandle } from '../../../domain/access/passkey.ts';
import { AppError } from '../../../domain/error.ts';
import type { Content } from '../html/html.ts';
import { DRAFT_LIFE_MS, DRAFT_LIMIT_BYTES } from '../limits.ts';
import type { AnonymousPageRequest, Draft, DraftRoute, Portal } from '../route.ts';
import { decryptValue, encryptValue } from '../sign-in/cookie.ts';
import { Form, hiddenField } from './form.ts';

const FIELD = 'draft';
/** Names the form's account, because the session may have ended by the time the form is sent. */
const ACCOUNT_FIELD = 'account';

interface SentForm {
  readonly account: AccountReference;
  readonly draftRoute: DraftRoute;
  readonly form: Form;
}

/** The hidden field that names a form's account; absent before the sign-in. */
export function accountField({ user }: Pick<AnonymousPageRequest, 'user'>): Content {
  return user && hiddenField(ACCOUNT_FIELD, formatUserHandle(user.account));
}

/** The account whose page showed the form; undefined if nobody was signed in. */
export function readAccount(form: Form): AccountReference | undefined {
  return parseUserHandle(form.get(ACCOUNT_FIELD));
}

/** For the hidden field; undefined if the draft is too long or cannot be encrypted. */
export async function encryptDraft(
  request: AnonymousPageRequest, portal: Portal,
  { account: { sellerId, accountId }, draftRoute, form }: SentForm,
): Promise<string | undefined> {
  const fields = draftRoute.fields.flatMap((name) =>
    form.getAll(name).map((value) => [name, value] as const));
  const draft: Draft = { sellerId, accountId, path: request.path, fields };
  if (Buffer.byteLength(JSON.stringify(draft)) > DRAFT_LIMIT_BYTES) return undefined;
  try {
    return await encryptValue(portal, draft, contextOf(request), DRAFT_LIFE_MS);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    portal.report({ id: 'draft', error }); // the sign-in continues without it
    return undefined;
  }
}

/** Undefined if the draft is invalid, expired, or from another browser. */
export async function decryptDraft(
  request: AnonymousPageRequest, portal: Portal, encrypted: string,
): Promise<Draft | undefined> {
  return decryptValue<Draft>(portal, encrypted, contextOf(request));
}

/** The encrypted draft in a sign-in form; empty without one. */
export function readDraft(form: Form): string {
  return form.get(FIELD);
}

export function draftField(encrypted: string): Content {
  return encrypted !== '' && hiddenField(FIELD, encrypted);
}

/** The CSRF token identifies the browser while nobody is signed in. */
function contextOf({ csrfToken }: AnonymousPageRequest): string {
  return `draft ${csrfToken}`;
}
