/**
 * Signing in and out. A failed sign-in gets the same response in the same time, whether or not the
 * account exists.
 */
import type { Reply } from '../../../http/response/reply.ts';
import type { Credentials } from '../../../store/account-store.ts';
import { decryptDraft, readDraft } from '../forms/draft.ts';
import { type Form, initialState, NO_ERRORS } from '../forms/form.ts';
import { redirect } from '../html/page.ts';
import { showDraft } from '../page-request.ts';
import type { AnonymousPageRequest, PageRequest, Portal } from '../route.ts';
import { findDeviceId, rememberDevice } from './device.ts';
import { CLEAR_SESSION_COOKIE, formatSessionToken, startSession } from './session.ts';
import { renderCode, renderSignIn, toPagePath } from './sign-in-pages.ts';
import {
  beginTwoFactor, CLEAR_TWO_FACTOR_COOKIE, findPendingTwoFactor, takeTwoFactorCode,
} from './two-factor.ts';

/** GET /portal/sign-in: 200, 303 */
export async function showSignIn(request: AnonymousPageRequest, portal: Portal): Promise<Reply> {
  const to = request.query.get('to') ?? '';
  if (request.user) return redirect(request.link(toPagePath(to)));
  const [seller] = await portal.store.listSellers({ after: undefined, limit: 1 });
  if (!seller) return redirect(request.link('/join'));
  return renderSignIn(request, portal, { to, draft: '', isLate: request.query.has('late') });
}

/** POST /portal/sign-in: 303, 422, 429, 503 */
export async function signIn(
  request: AnonymousPageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const { store, passwords, limits } = portal;
  const { address } = request;
  const email = form.getTrimmed('email').toLowerCase();
  const draft = readDraft(form);
  const credentials = await store.findCredentials(email);
  const device = await findDeviceId(request, portal, credentials);
  const isRight = await limits.tryPassword(email, { address, device }, () =>
    passwords.verify(form.get('password'), credentials?.passwordHash));
  if (!credentials || !isRight) {
    if (credentials) logFailedSignIn(request, portal, credentials, `Wrong password for ${email}`);
    const state = { form, errors: NO_ERRORS, detail: 'Incorrect e-mail or password.' };
    return renderSignIn(request, portal, { to: form.get('to'), draft }, state);
  }
  const to = toPagePath(form.get('to'));
  if (!credentials.hasTotp) return completeSignIn(request, portal, credentials, to, draft);
  const cookie = await beginTwoFactor(request, portal, email, credentials.passwordHash, to);
  // A draft is too large for the cookie, so the pages carry it.
  return draft === '' ? redirect(request.link('/sign-in/code'), [cookie])
    : { ...renderCode(request, portal, draft), cookies: [cookie] };
}

/** GET /portal/sign-in/code: 200, 303 */
export async function showSignInCode(
  request: AnonymousPageRequest, portal: Portal,
): Promise<Reply> {
  const pending = await findPendingTwoFactor(request, portal);
  return pending ? renderCode(request, portal, '') : redirect(request.link('/sign-in?late'));
}

/** POST /portal/sign-in/code: 303, 422, 429, 503 */
export async function signInWithCode(
  request: AnonymousPageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const draft = readDraft(form);
  const pending = await findPendingTwoFactor(request, portal);
  if (!pending) {
    return draft === '' ? redirect(request.link('/sign-in?late'))
      : renderSignIn(request, portal, { to: '', draft, isLate: true });
  }
  const { credentials, to } = pending;
  if (await takeTwoFactorCode(request, portal, credentials, form.get('code').replace(/\s/g, ''))) {
    return completeSignIn(request, portal, credentials, to, draft);
  }
  logFailedSignIn(request, portal, credentials, 'Wrong code');
  const detail = 'You are not signed in yet.';
  const errors = new Map([['code', 'Incorrect or already used. Each code works once: wait for the '
    + 'next one.']]);
  return renderCode(request, portal, draft, { ...initialState(), errors, detail });
}

/** POST /portal/sign-out: 303 */
export async function signOut(request: PageRequest, { store }: Portal): Promise<Reply> {
  const { account, user, by } = request;
  await store.endSessions(account, { id: user.session.id }, { ...by, type: 'signed_out' });
  return redirect(request.link('/sign-in'), [CLEAR_SESSION_COOKIE]);
}

/**
 * Starts a session, ends the browser's previous one, and redirects to the page or shows the draft.
 * If the credentials have changed since they were verified, redirects to the sign-in instead.
 */
async function completeSignIn(
  request: AnonymousPageRequest, portal: Portal, verified: Credentials, to: string,
  encryptedDraft: string,
): Promise<Reply> {
  const { user, address, headers, link } = request;
  const { store } = portal;
  if (user) {
    const { account, session } = user;
    const event = { type: 'signed_out', actorName: account.name, address } as const;
    await store.endSessions(account, { id: session.id }, event);
  }
  const { session, secret } = startSession(address, headers['user-agent']);
  const isSignedIn = await store.createSession(verified, session);
  if (!isSignedIn) return redirect(link('/sign-in?late'), [CLEAR_TWO_FACTOR_COOKIE]);
  const { token, cookie } = formatSessionToken(verified.sellerId, secret);
  const device = await rememberDevice(request, portal, verified);
  const cookies = [cookie, CLEAR_TWO_FACTOR_COOKIE, ...device];
  const draft = await decryptDraft(request, portal, encryptedDraft);
  if (!draft) return redirect(link(to), cookies);
  // Never show one account's draft to another.
  const isOwn = draft.sellerId === verified.sellerId && draft.accountId === verified.accountId;
  if (!isOwn) return redirect(link('/'), cookies);
  return { ...await showDraft(request, portal, token, draft), cookies };
}

/** Does not wait for the write: the response time must not reveal that the account exists. */
function logFailedSignIn(
  { address }: AnonymousPageRequest, { store, limits, report }: Portal, { sellerId }: Credentials,
  subject: string,
): void {
  if (!limits.takeLogEntry(sellerId)) return;
  store.noteAuditEvent({ sellerId, type: 'sign_in_refused', address, subject })
    .catch((error: unknown) => report({ id: 'sign-in-refused', error }));
}
