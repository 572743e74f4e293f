/** Signing in and out. What is refused is refused alike, whether there is an account or not. */
import type { Reply } from '../../../http/response/reply.ts';
import { readDraft } from '../forms/draft.ts';
import { type Form, NO_ERRORS } from '../forms/form.ts';
import { redirect } from '../html/page.ts';
import type { AnonymousPageRequest, PageRequest, Portal } from '../route.ts';
import { completeSignIn, noteRefusal, readReturn } from './complete-sign-in.ts';
import { findDeviceId, readDevice } from './device.ts';
import { CLEAR_SESSION_COOKIE } from './session.ts';
import { renderCode, renderSignIn } from './sign-in-forms.ts';
import { beginTwoFactor, findPendingTwoFactor, isGood } from './two-factor.ts';

const WRONG = 'This code is not right, or not any more: each is good once. Wait for the next one.';

/** GET /portal/sign-in: 200, 303 */
export async function showSignIn(request: AnonymousPageRequest, portal: Portal): Promise<Reply> {
  const to = request.query.get('to') ?? '';
  if (request.user) return redirect(request.link(readReturn(to)));
  const [seller] = await portal.store.listSellers({ after: undefined, limit: 1 });
  if (!seller) return redirect(request.link('/join'));
  const isLate = request.query.has('late');
  return renderSignIn(request, portal, { email: '', to, draft: '', isLate });
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
  const device = findDeviceId(await readDevice(store, request.headers.cookie), credentials);
  const isRight = await limits.tryPassword(email, { address, device }, () =>
    passwords.verify(form.get('password'), credentials?.passwordHash));
  if (!credentials || !isRight) {
    if (credentials) noteRefusal(portal, credentials.sellerId, address, 'Wrong password');
    return renderSignIn(request, portal, {
      email, to: form.get('to'), draft, refusal: 'This e-mail and password do not belong together.',
    });
  }
  const to = readReturn(form.get('to'));
  if (!credentials.hasTotp) return completeSignIn(request, portal, credentials, { to, draft });
  const cookie = await beginTwoFactor(request, portal, email, { credentials, to });
  // A draft is too large for the cookie, so each page passes it on.
  return draft === '' ? redirect(request.link('/sign-in/code'), [cookie])
    : { ...renderCode(request, portal, NO_ERRORS, draft), cookies: [cookie] };
}

/** GET /portal/sign-in/code: 200, 303 */
export async function showSignInCode(
  request: AnonymousPageRequest, portal: Portal,
): Promise<Reply> {
  const step = await findPendingTwoFactor(request, portal);
  if (!step) return redirect(request.link('/sign-in?late'));
  return renderCode(request, portal, NO_ERRORS, '');
}

/** POST /portal/sign-in/code: 303, 422, 429, 503 */
export async function signInWithCode(
  request: AnonymousPageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const draft = readDraft(form);
  const step = await findPendingTwoFactor(request, portal);
  if (!step) {
    return draft === '' ? redirect(request.link('/sign-in?late'))
      : renderSignIn(request, portal, { email: '', to: '', draft, isLate: true });
  }
  const { credentials, to } = step;
  const code = form.get('code').replace(/\s/g, '');
  if (await isGood(request, portal, credentials, code)) {
    return completeSignIn(request, portal, credentials, { to, draft });
  }
  noteRefusal(portal, credentials.sellerId, request.address, 'Wrong code');
  return renderCode(request, portal, new Map([['code', WRONG]]), draft);
}

/** POST /portal/sign-out: 303 */
export async function signOut(request: PageRequest, { store }: Portal): Promise<Reply> {
  const { account, user, address } = request;
  await store.endSessions(
    account.sellerId, { id: user.session.id }, { type: 'signed_out', address },
  );
  return redirect(request.link('/sign-in'), [CLEAR_SESSION_COOKIE]);
}
