/**
 * Signing in and out. A failed sign-in gets the same response in the same time, whether or not the
 * account exists.
 */
import type { Passwords } from '../../../domain/access/password.ts';
import type { Reply } from '../../../http/response/reply.ts';
import type { Credentials, NewSession, StoredCredentials } from '../../../store/account-store.ts';
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
    verifyPassword(passwords, form.get('password'), credentials));
  if (!credentials || !isRight) {
    if (credentials) {
      const what = credentials.isPasswordOff ? 'Password (turned off)' : 'Wrong password';
      logFailedSignIn(request, portal, credentials, `${what} for ${email}`);
    }
    const state = { form, errors: NO_ERRORS, detail: 'Incorrect e-mail or password.' };
    return renderSignIn(request, portal, { to: form.get('to'), draft }, state);
  }
  const to = toPagePath(form.get('to'));
  if (!credentials.hasTotp) return startSignedIn(request, portal, credentials, to, draft);
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
    return startSignedIn(request, portal, credentials, to, draft);
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

/** A sign-in whose factors are verified, and what follows it. */
interface CompletedSignIn {
  readonly verified: Credentials;
  /** The page after the sign-in. */
  readonly to: string;
  /** Encrypted; empty without one. */
  readonly draft: string;
  /** Stores the session, unless what was verified has changed since. */
  readonly start: (session: NewSession) => Promise<boolean>;
}

/**
 * Starts a session, ends the browser's previous one, and redirects to the page or shows the draft.
 * Undefined if the session was not stored.
 */
export async function completeSignIn(
  request: AnonymousPageRequest, portal: Portal,
  { verified, to, draft: encryptedDraft, start }: CompletedSignIn,
): Promise<Reply | undefined> {
  const { user, address, headers, link } = request;
  const { session, secret } = startSession(address, headers['user-agent']);
  if (!await start(session)) return undefined;
  if (user) {
    const event = { type: 'signed_out', actorName: user.account.name, address } as const;
    await portal.store.endSessions(user.account, { id: user.session.id }, event);
  }
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

/** After a password, and a code if one is needed. */
async function startSignedIn(
  request: AnonymousPageRequest, portal: Portal, verified: Credentials, to: string, draft: string,
): Promise<Reply> {
  const start = (session: NewSession) => portal.store.createSession(verified, session);
  return await completeSignIn(request, portal, { verified, to, draft, start })
    ?? redirect(request.link('/sign-in?late'), [CLEAR_TWO_FACTOR_COOKIE]);
}

/** Takes as long if the password may not sign in, so that only its owner knows. */
async function verifyPassword(
  passwords: Passwords, password: string, credentials: StoredCredentials | undefined,
): Promise<boolean> {
  const isRight = await passwords.verify(password, credentials?.passwordHash);
  return isRight && credentials?.isPasswordOff !== true;
}

/** Does not wait for the write: the response time must not reveal that the account exists. */
export function logFailedSignIn(
  { address }: AnonymousPageRequest, { store, limits, report }: Portal, credentials: Credentials,
  subject: string,
): void {
  if (!limits.takeLogEntry(credentials)) return;
  const { sellerId } = credentials;
  store.noteAuditEvent({ sellerId, type: 'sign_in_refused', address, subject })
    .catch((error: unknown) => report({ id: 'sign-in-refused', error }));
}
