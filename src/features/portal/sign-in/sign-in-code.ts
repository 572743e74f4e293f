/** The second step of a sign-in: a one-time password, or one of the recovery codes. */
import { hashCode } from '../../../domain/access/human-code.ts';
import { AppError } from '../../../domain/error.ts';
import { findTotpStep } from '../../../domain/access/totp.ts';
import type { Reply } from '../../../http/response/reply.ts';
import type { Credentials } from '../../../store/account-store.ts';
import { findDeviceId, readDevice } from './device.ts';
import { readDraft } from '../forms/draft.ts';
import { completeSignIn } from './complete-sign-in.ts';
import { type Form, NO_ERRORS } from '../forms/form.ts';
import { redirect } from '../html/page.ts';
import type { AnonymousPageRequest, Portal } from '../route.ts';
import { findPendingTwoFactor } from './two-factor.ts';
import { renderCode, renderSignIn } from './sign-in-forms.ts';
import { noteRefusal } from './sign-in.ts';

const WRONG = 'This code is not right, or not any more: each is good once. Wait for the next one.';

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

/** A recovery code is too long to be guessed: only one-time passwords are counted. */
async function isGood(
  { headers, address }: AnonymousPageRequest, { store, limits, clock }: Portal,
  credentials: Credentials,
  code: string,
): Promise<boolean> {
  const { sellerId } = credentials;
  const recoveryHash = hashCode(code);
  if (recoveryHash !== undefined) return store.takeRecoveryCode(sellerId, recoveryHash, address);
  const device = findDeviceId(await readDevice(store, headers.cookie), credentials);
  return limits.tryTotp(sellerId, device, async () => {
    const totp = await store.findTotp(sellerId);
    if (!totp) return true; // it was switched off a moment ago
    if (totp.secret === undefined) throw unreadable();
    const step = findTotpStep(totp.secret, code, clock(), totp.step);
    return step !== undefined && await store.takeTotpStep(sellerId, step);
  });
}

function unreadable(): AppError {
  const what = 'No one-time password can be checked now: server.key in the data folder of the '
    + 'server is missing, or is another one.';
  const hint = 'Put back the one that belongs to the database and restart the server, or use a '
    + 'recovery code.';
  return new AppError('unavailable', `${what} ${hint}`);
}
