/**
 * The sign-in pages: for the password, and for the two-factor authentication code. Both carry the
 * draft of a form whose session ended. Requests without a session are redirected here and, after
 * the sign-in, back to the requested page. A form submitted without a session is not saved; it is
 * shown again after the sign-in.
 */
import { findRpId } from '../../../domain/access/webauthn/ceremony.ts';
import { AppError } from '../../../domain/error.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { draftField, encryptDraft, readAccount } from '../forms/draft.ts';
import { type Field, postForm } from '../forms/fields.ts';
import { renderFormPage } from '../forms/form-page.ts';
import { type FormState, hiddenField, initialState, readForm } from '../forms/form.ts';
import { notice } from '../html/elements.ts';
import { type Content, html } from '../html/html.ts';
import { redirect } from '../html/page.ts';
import { RETURN_PATH_LIMIT_CHARACTERS } from '../limits.ts';
import type { AnonymousPageRequest, DraftRoute, Portal } from '../route.ts';
import { renderAddressNote } from './passkeys.ts';
import { CLEAR_SESSION_COOKIE } from './session.ts';

const PASSWORD_FIELDS: readonly Field[] = [
  {
    name: 'email', label: 'E-mail', type: 'email', autocomplete: 'username webauthn',
    isRequired: true,
  },
  {
    name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password',
    isRequired: true,
  },
];
const CODE_FIELDS: readonly Field[] = [{
  name: 'code', label: 'Authentication code', autocomplete: 'one-time-code', isRequired: true,
  maxLength: 40, hint: 'The six-digit code from your authenticator app, or a recovery code.',
}];

export interface SignInPage {
  /** The page after the sign-in. */
  readonly to: string;
  /** The form to return to, encrypted; empty without one. */
  readonly draft: string;
  /** Whether the code came too late. */
  readonly isLate?: boolean;
}

export function renderSignIn(
  request: AnonymousPageRequest, portal: Portal, { to, draft, isLate }: SignInPage,
  state: FormState = initialState(),
): Reply {
  const register = request.link('/join');
  const useCode = request.link('/join?shop=code');
  return renderFormPage(request, portal, {
    title: 'Sign in', action: '/sign-in', submit: 'Sign in', fields: PASSWORD_FIELDS,
    before: isLate && notice(html`<p>Your sign-in has expired. Please sign in again.</p>`),
    hidden: html`${hiddenField('to', to)}${draftField(draft)}`,
    scripts: ['passkey.js'],
    after: html`${renderPasskeyForm(request, { to, draft })}<p>${portal.isRegistrationOpen
      && html`New here? <a href="${register}">Create a shop</a>. `}
      <a href="${useCode}">Have an invitation code?</a></p>`,
  }, state);
}

/** The button is hidden without scripts; where passkeys cannot work, a note says so. */
function renderPasskeyForm(
  request: AnonymousPageRequest, { to, draft }: Pick<SignInPage, 'to' | 'draft'>,
): Content {
  if (findRpId(request.base.origin) === undefined) {
    return html`<p class="hint">${renderAddressNote(request, '/sign-in')}</p>`;
  }
  const action = request.link('/sign-in/passkey');
  return html`${postForm(request, action, html`${hiddenField('to', to)}${draftField(draft)}
      <p class="fault" role="alert" data-passkey-error hidden></p>
      <button type="button" data-passkey="get" data-options="${action}/options" data-conditional
        hidden>
        Sign in with a passkey</button>`)}
    <noscript><p class="hint">Signing in with a passkey needs JavaScript.</p></noscript>`;
}

/** The page that asks for the two-factor authentication code. */
export function renderCode(
  request: AnonymousPageRequest, portal: Portal, draft: string, state: FormState = initialState(),
): Reply {
  return renderFormPage(request, portal, {
    title: 'Two-factor authentication', action: '/sign-in/code', submit: 'Verify',
    fields: CODE_FIELDS, hidden: draftField(draft),
    // Going back would lose the draft.
    after: draft === ''
      && html`<p><a href="${request.link('/sign-in')}">Back to e-mail and password</a></p>`,
  }, state);
}

/** @param to The page after the sign-in. */
export function redirectToSignIn({ link }: AnonymousPageRequest, to = '/'): Reply {
  const query = to === '' || to === '/' ? {} : { to };
  return redirect(link('/sign-in', new URLSearchParams(query)));
}

/**
 * Ends the session of this browser, and removes what it has cached. Where the host of an embedded
 * portal has pages of its own, they keep their cache.
 */
export function redirectSignedOut(
  { link, prefix }: AnonymousPageRequest, { isEmbedded }: Portal,
): Reply {
  const reply = redirect(link('/sign-in'), [CLEAR_SESSION_COOKIE]);
  return isEmbedded || prefix !== '' ? reply
    : { ...reply, headers: { ...reply.headers, 'clear-site-data': '"cache"' } };
}

/** The page to return to, for `link`, which keeps it in the portal; without a long one, `/`. */
export function toPagePath(to: string): string {
  return to.length <= RETURN_PATH_LIMIT_CHARACTERS ? to : '/';
}

/** The sign-in does not keep an uploaded file; the upload page says so afterwards. */
export function redirectFromUpload(request: AnonymousPageRequest): Reply {
  const isFile = request.headers['content-type']?.startsWith('multipart/form-data') === true;
  return redirectToSignIn(request, isFile ? `${request.path}?done=ended` : '/');
}

/** Responds to a form whose session has ended with the sign-in page, which carries its draft. */
export async function keepDraft(
  request: AnonymousPageRequest, portal: Portal, draftRoute: DraftRoute | undefined,
): Promise<Reply> {
  const form = await readForm(request.incoming);
  const account = readAccount(form);
  if (!account) return redirectToSignIn(request);
  const to = findPagePath(portal, request.path);
  if (!draftRoute) return redirectToSignIn(request, to);
  const draft = await encryptDraft(request, portal, { account, draftRoute, form });
  const detail = `Your session has ended, so nothing was saved. ${draft === undefined
    ? 'Your input was too long to keep.'
    : 'Sign in to return to your form. Your input is kept, except passwords and codes.'}`;
  return renderSignIn(
    request, portal, { to, draft: draft ?? '' }, { ...initialState(), detail, status: 403 },
  );
}

/** The page of a form: its own path, or the nearest parent path that has a page. */
export function findPagePath(portal: Portal, path: string): string {
  try {
    portal.router.find('GET', path);
    return path;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return findPagePath(portal, path.slice(0, path.lastIndexOf('/')) || '/');
  }
}
