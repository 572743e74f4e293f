/**
 * Signing in and out. A failed sign-in gets the same response in the same time, whether or not the
 * account exists. Between the password and the code of two-factor authentication, an encrypted
 * cookie proves that the password was correct, for a few minutes and in one browser. It is not a
 * session: it opens only the page that asks for the code.
 *
 * A passkey verifies the user on the device, so it counts as both factors: no code is asked for.
 * The browser offers the passkeys that it knows, so no e-mail is needed, and the server does not
 * reveal who has one.
 */
import { hashCode } from '../../../domain/access/human-code.ts';
import { parseUserHandle } from '../../../domain/access/passkey.ts';
import { passwordFingerprint } from '../../../domain/access/password.ts';
import { findTotpStep } from '../../../domain/access/totp.ts';
import { AppError } from '../../../domain/error.ts';
import { type Reply, replyJson } from '../../../http/response/reply.ts';
import type {
  Credentials, NewSession, PasskeyUse, StoredCredentials,
} from '../../../store/account-store.ts';
import { decryptDraft, readDraft } from '../forms/draft.ts';
import { type Form, initialState, NO_ERRORS } from '../forms/form.ts';
import { redirect } from '../html/page.ts';
import {
  CHALLENGE_LIFE_MS, TWO_FACTOR_COOKIE_LIMIT_CHARACTERS, TWO_FACTOR_LIFE_MS,
} from '../limits.ts';
import { showDraft } from '../page-request.ts';
import type { AnonymousPageRequest, Portal, Show, Submit } from '../route.ts';
import { decryptValue, encryptValue, formatCookie, readCookie } from './cookie.ts';
import { findDeviceId, readDevice, rememberDevice } from './device.ts';
import {
  COPIED_PASSKEY, issueChallenge, listHostPasskeys, readResponseText, readUse, UNKNOWN_PASSKEY,
} from './passkeys.ts';
import { passwordClient, strangerClient } from './rate-limits.ts';
import { formatSessionToken, startSession } from './session.ts';
import {
  redirectSignedOut, redirectToSignIn, renderCode, renderSignIn, type SignInPage, toPagePath,
} from './sign-in-pages.ts';

/** GET /portal/sign-in: 200, 303 */
export const showSignIn: Show<AnonymousPageRequest> = async (request, portal) => {
  const to = request.query.get('to') ?? '';
  if (request.user) return redirect(request.link(toPagePath(to)));
  const [seller] = await portal.store.listSellers({ after: undefined, limit: 1 });
  if (!seller) return redirect(request.link('/join'));
  return renderSignIn(request, portal, { to, draft: '', isLate: request.query.has('late') });
};

/** POST /portal/sign-in: 303, 422, 429, 503 */
export const signIn: Submit<AnonymousPageRequest> = async (request, portal, form) => {
  const { store, limits } = portal;
  const { address } = request;
  const email = form.getTrimmed('email').toLowerCase();
  const draft = readDraft(form);
  const credentials = await store.findCredentials(email);
  const device = await findDeviceId(request, portal, credentials);
  const isRight = await limits.tryPassword(email, credentials, { address, device }, () =>
    verifyPassword(request, portal, form.get('password'), { credentials, device }));
  if (!credentials || !isRight) {
    request.record.securityEvent = 'sign_in_failed';
    if (credentials) {
      const reason = credentials.isPasswordOff ? 'Password (turned off)' : 'Wrong password';
      logFailedSignIn(request, portal, credentials, `${reason} for ${email}`);
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
};

/** GET /portal/sign-in/code: 200, 303 */
export const showSignInCode: Show<AnonymousPageRequest> = async (request, portal) => {
  const pending = await findPendingTwoFactor(request, portal);
  return pending ? renderCode(request, portal, '') : redirect(request.link('/sign-in?late'));
};

/** POST /portal/sign-in/code: 303, 422, 429, 503 */
export const signInWithCode: Submit<AnonymousPageRequest> = async (request, portal, form) => {
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
};

/** POST /portal/sign-out: 303 */
export const signOut: Submit = async (request, portal) => {
  const { account, user, by } = request;
  await portal.store.endSessions(account, { id: user.session.id }, { ...by, type: 'signed_out' });
  return redirectSignedOut(request, portal);
};

/** A sign-in whose factors are verified, and what follows it. */
interface CompletedSignIn extends Pick<SignInPage, 'to' | 'draft'> {
  readonly verified: Credentials;
  /** Stores the session, unless what was verified has changed since. */
  readonly start: (session: NewSession) => Promise<boolean>;
}

/**
 * Starts a session, ends the browser's previous one, and redirects to the page or shows the draft.
 * Undefined if the session was not stored.
 */
async function completeSignIn(
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

/**
 * Takes as long if the password may not sign in, so that only its owner knows. An unknown e-mail
 * waits for a turn of strangers, and so does the response to a wrong password from a browser that
 * the account has not used before: a full queue does not reveal which accounts exist.
 */
async function verifyPassword(
  { address, disconnectSignal }: AnonymousPageRequest, { passwords }: Portal, password: string,
  { credentials, device }: {
    readonly credentials: StoredCredentials | undefined; readonly device: string | undefined;
  },
): Promise<boolean> {
  const signal = disconnectSignal();
  const stranger = strangerClient(address, signal);
  if (!credentials) return passwords.verify(password, undefined, stranger);
  const client = passwordClient(credentials, signal, device === undefined ? 'new' : 'known');
  const isRight = await passwords.verify(password, credentials.passwordHash, client);
  if (isRight && !credentials.isPasswordOff) return true;
  if (device === undefined) await passwords.takeTurn(stranger);
  return false;
}

/** Does not wait for the write: the response time must not reveal that the account exists. */
function logFailedSignIn(
  { address, record }: AnonymousPageRequest, { store, limits, report }: Portal,
  credentials: Credentials, subject: string,
): void {
  const { sellerId, accountId } = credentials;
  Object.assign(record, { securityEvent: 'sign_in_failed', sellerId, accountId });
  if (!limits.takeLogEntry(credentials)) return;
  store.noteAuditEvent({ sellerId, type: 'sign_in_refused', address, subject })
    .catch((error: unknown) => report({ id: 'sign-in-refused', error }));
}

const COOKIE = 'second-step';

/** The cookie's content. */
interface PendingSignIn {
  readonly email: string;
  /** Fingerprint of the verified password. */
  readonly stamp: string;
  /** The page after the sign-in. */
  readonly to: string;
}

/** The cookie for a browser that has sent an account's correct password. */
async function beginTwoFactor(
  request: AnonymousPageRequest, portal: Portal, email: string, passwordHash: string, to: string,
): Promise<string> {
  const pending: PendingSignIn = { email, to, stamp: passwordFingerprint(passwordHash) };
  const encrypted = await encryptValue(portal, pending, contextOf(request), TWO_FACTOR_LIFE_MS);
  return formatCookie(COOKIE, encrypted, TWO_FACTOR_LIFE_MS);
}

const CLEAR_TWO_FACTOR_COOKIE = formatCookie(COOKIE, '', 0);

/** Undefined without a recent correct password, or if the password has changed since. */
async function findPendingTwoFactor(request: AnonymousPageRequest, portal: Portal): Promise<
  { readonly credentials: Credentials; readonly to: string } | undefined
> {
  const pending = await decryptValue<PendingSignIn>(
    portal, readCookie(request.headers.cookie, COOKIE), contextOf(request),
    TWO_FACTOR_COOKIE_LIMIT_CHARACTERS,
  );
  const credentials = pending && await portal.store.findCredentials(pending.email);
  if (!credentials) return undefined;
  const isCurrent = passwordFingerprint(credentials.passwordHash) === pending.stamp;
  return isCurrent ? { credentials, to: pending.to } : undefined;
}

/**
 * Checks a one-time password or a recovery code; a correct one cannot be used again. Recovery codes
 * are too long to guess, so only one-time passwords count towards the limit.
 * @throws AppError `rate_limited`; `unavailable` if the secret of the account cannot be decrypted
 */
async function takeTwoFactorCode(
  request: AnonymousPageRequest, portal: Portal, credentials: Credentials, code: string,
): Promise<boolean> {
  const { store, limits, clock } = portal;
  const recoveryHash = hashCode(code);
  if (recoveryHash !== undefined) {
    return store.takeRecoveryCode(credentials, recoveryHash, request.address);
  }
  const device = await findDeviceId(request, portal, credentials);
  return limits.tryTotp(credentials, device, async () => {
    const totp = await store.findTotp(credentials);
    if (!totp) return true; // two-factor authentication was turned off a moment ago
    if (totp.secret === undefined) {
      throw new AppError('unavailable', 'The server cannot check authentication codes: server.key '
        + 'in its data folder is missing or does not match the database. Restore the matching '
        + 'file and restart the server, or use a recovery code.');
    }
    const step = findTotpStep(totp.secret, code, clock(), totp.step);
    return step !== undefined && await store.takeTotpStep(credentials, step);
  });
}

/** The CSRF token identifies the browser while nobody is signed in. */
function contextOf({ csrfToken }: AnonymousPageRequest): string {
  return `second step ${csrfToken}`;
}

/** What was verified, or why not. */
type Outcome =
  | { readonly credentials: Credentials; readonly use: PasskeyUse }
  | { readonly detail: string };

/** GET /portal/sign-in/passkey/options: 200, 404. What `passkey.js` asks the browser. */
export const sendSignInOptions: Show<AnonymousPageRequest> = async (request, portal) => {
  const challenge = await issueChallenge(request, portal, 'sign in');
  const options = { ...challenge, allowed: [], lifeMs: CHALLENGE_LIFE_MS };
  return replyJson(JSON.stringify(options));
};

/** GET /portal/account/passkeys/options: 200, 404. What `passkey.js` asks for a confirmation. */
export const sendConfirmationOptions: Show = async (request, portal) => {
  const challenge = await issueChallenge(request, portal, 'confirm');
  const allowed = await listHostPasskeys(request, portal);
  return replyJson(JSON.stringify({ ...challenge, allowed }));
};

/** GET /portal/sign-in/passkey: 303. Its address remains after a response that was rejected. */
export const reopenSignIn: Show<AnonymousPageRequest> = async (request) =>
  redirectToSignIn(request);

/** POST /portal/sign-in/passkey: 303, 422, 429 */
export const signInWithPasskey: Submit<AnonymousPageRequest> = async (request, portal, form) => {
  const { address } = request;
  const device = (await readDevice(request, portal))?.id;
  let outcome: Outcome = { detail: UNKNOWN_PASSKEY };
  await portal.limits.tryPasskey({ address, device }, async () => {
    outcome = await verify(request, portal, form);
    return 'use' in outcome;
  });
  return answer(request, portal, form, outcome);
};

async function verify(request: AnonymousPageRequest, portal: Portal, form: Form): Promise<Outcome> {
  const { store } = portal;
  const reference = parseUserHandle(readResponseText(form, 'user_handle'));
  const account = reference && await store.findAccount(reference);
  const credentials = account && await store.findCredentials(account.email);
  if (!credentials) return { detail: UNKNOWN_PASSKEY };
  const used = await readUse(request, portal, form, { account: credentials, purpose: 'sign in' });
  if ('value' in used) return { credentials, use: used.value };
  logFailedSignIn(request, portal, credentials, `Passkey of ${account.email} not accepted`);
  return used;
}

async function answer(
  request: AnonymousPageRequest, portal: Portal, form: Form, outcome: Outcome,
): Promise<Reply> {
  const draft = readDraft(form);
  const reject = (detail: string): Reply => renderSignIn(
    request, portal, { to: form.get('to'), draft }, { form, errors: NO_ERRORS, detail },
  );
  if ('detail' in outcome) {
    request.record.securityEvent = 'sign_in_failed';
    return reject(outcome.detail);
  }
  const { credentials, use } = outcome;
  const reply = await completeSignIn(request, portal, {
    verified: credentials, to: toPagePath(form.get('to')), draft,
    start: (session) => portal.store.createPasskeySession(credentials, use, session),
  });
  if (reply) return reply;
  const subject = `Signature counter of passkey ${use.name} not accepted: it may have been copied`;
  logFailedSignIn(request, portal, credentials, subject);
  return reject(COPIED_PASSKEY);
}
