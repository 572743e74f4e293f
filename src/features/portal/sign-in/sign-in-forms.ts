/**
 * The pages of the sign-in: for the password, and for the code of two-factor authentication. Both
 * carry the draft of a form whose session ended (draft.ts).
 */
import { AppError } from '../../../domain/error.ts';
import type { Reply } from '../../../http/response/reply.ts';
import type { Router } from '../../../http/router.ts';
import { draftField, encryptDraft, readSeller } from '../forms/draft.ts';
import { errorSummary, postForm, textField } from '../forms/fields.ts';
import { type FieldErrors, NO_ERRORS, readForm } from '../forms/form.ts';
import { notice } from '../html/elements.ts';
import { html } from '../html/html.ts';
import { redirect, renderPublicPage } from '../html/page.ts';
import type { AnonymousPageRequest, DraftRoute, PageRoute, Portal } from '../route.ts';

interface Shown {
  readonly email: string;
  /** The page after the sign-in. */
  readonly to: string;
  /** The form to return to, encrypted; empty where there is none. */
  readonly draft: string;
  readonly refusal?: string;
  /** Of a refusal. Default 422. */
  readonly status?: number;
  /** Whether the second step came too late. */
  readonly isLate?: boolean;
}

export function renderSignIn(
  request: AnonymousPageRequest, portal: Portal,
  { email, to, draft, refusal, status = 422, isLate }: Shown,
): Reply {
  return renderPublicPage(request, portal, {
    title: 'Sign in',
    status: refusal === undefined ? 200 : status,
    content: html`${errorSummary(NO_ERRORS, refusal)}
      ${isLate && notice(html`<p>That took too long. Sign in again, please.</p>`)}
      ${postForm(request, request.link('/sign-in'), html`
        <input type="hidden" name="to" value="${to}">${draftField(draft)}
        ${textField({
    name: 'email', label: 'E-mail', type: 'email', value: email, autocomplete: 'username',
    isRequired: true,
  })}
        ${textField({
    name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password',
    isRequired: true,
  })}
        <button>Sign in</button>`)}
      <p>${portal.isOpen
    ? html`New here? <a href="${request.link('/join')}">Open a shop</a>.`
    : html`Were you invited? <a href="${request.link('/join')}">Use your code</a>.`}</p>`,
  });
}

/** For a form whose session has ended. `draft` is undefined if it could not be kept. */
function renderSignInAgain(
  request: AnonymousPageRequest, portal: Portal,
  { to, draft }: { to: string; draft: string | undefined },
): Reply {
  const what = 'Your session has ended, so nothing was saved. ';
  const hint = draft === undefined
    ? 'What you typed was too long to be kept.'
    : 'Sign in to return to your form, with what you typed. Passwords and codes are not kept.';
  return renderSignIn(request, portal, {
    email: '', to, draft: draft ?? '', refusal: what + hint, status: 403,
  });
}

/** The page for the second step of two-factor authentication. */
export function renderCode(
  request: AnonymousPageRequest, portal: Portal, errors: FieldErrors, draft: string,
): Reply {
  return renderPublicPage(request, portal, {
    title: 'Your code',
    status: errors.size === 0 ? 200 : 422,
    content: html`${errorSummary(errors, errors.size === 0 ? undefined : 'You are not signed in.')}
      ${postForm(request, request.link('/sign-in/code'), html`
        ${draftField(draft)}${textField({
    name: 'code', label: 'Code', errors, autocomplete: 'one-time-code', isRequired: true,
    maxLength: 40,
    hint: 'The six digits that your app shows now, or one of your recovery codes.',
  })}
        <button>Sign in</button>`)}
      ${draft === '' && html`<p><a href="${request.link('/sign-in')}">Back to the e-mail and
        password</a></p>`}`,
  });
}

/** `to` is the page after the sign-in. */
export function redirectToSignIn({ link }: AnonymousPageRequest, to = '/'): Reply {
  const query = to === '' || to === '/' ? '' : `?${new URLSearchParams({ to })}`;
  return redirect(link(`/sign-in${query}`));
}

/** A file is not kept through the sign-in: the page of the upload says so afterwards. */
export function redirectFromUpload(request: AnonymousPageRequest): Reply {
  const isFile = request.headers['content-type']?.startsWith('multipart/form-data') === true;
  return redirectToSignIn(request, isFile ? `${request.path}?done=ended` : '/');
}

/** Answers a form whose session has ended with the sign-in, which carries its draft. */
export async function keepDraft(
  request: AnonymousPageRequest, portal: Portal, router: Router<PageRoute>,
  draftRoute: DraftRoute | undefined,
): Promise<Reply> {
  const form = await readForm(request.incoming);
  const sellerId = readSeller(form);
  if (sellerId === undefined) return redirectToSignIn(request);
  const to = findShown(router, request.path);
  if (!draftRoute) return redirectToSignIn(request, to);
  const draft = await encryptDraft(request, portal, { sellerId, draftRoute, form });
  return renderSignInAgain(request, portal, { to, draft });
}

/** The page of a form: of its own path, or of the nearest one above that has a page. */
function findShown(router: Router<PageRoute>, path: string): string {
  try {
    router.find('GET', path);
    return path;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return findShown(router, path.slice(0, path.lastIndexOf('/')) || '/');
  }
}
