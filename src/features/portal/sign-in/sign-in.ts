/** Signing in and out. What is refused is refused alike, whether there is an account or not. */
import type { SellerId } from '../../../domain/id.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { findDeviceId, readDevice } from './device.ts';
import { readDraft } from '../forms/draft.ts';
import { completeSignIn, readReturn } from './complete-sign-in.ts';
import { type Form, NO_FAULTS } from '../forms/form.ts';
import { redirect } from '../html/page.ts';
import type { AnonymousPageRequest, Portal, PageRequest } from '../route.ts';
import { beginSecondStep } from './two-factor.ts';
import { FORGET_SESSION } from './session.ts';
import { renderCode, renderSignIn } from './sign-in-forms.ts';

/** GET /portal/sign-in: 200, 303 */
export async function showSignIn(visit: AnonymousPageRequest, portal: Portal): Promise<Reply> {
  const to = visit.query.get('to') ?? '';
  if (visit.visitor) return redirect(visit.link(readReturn(to)));
  const [seller] = await portal.store.listSellers({ after: undefined, limit: 1 });
  if (!seller) return redirect(visit.link('/join'));
  const isLate = visit.query.has('late');
  return renderSignIn(visit, portal, { email: '', to, draft: '', isLate });
}

/** POST /portal/sign-in: 303, 422, 429, 503 */
export async function signIn(
  visit: AnonymousPageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const { store, passwords, limits } = portal;
  const { address } = visit;
  const email = form.getTrimmed('email').toLowerCase();
  const draft = readDraft(form);
  const credentials = await store.findCredentials(email);
  const device = findDeviceId(await readDevice(store, visit.headers.cookie), credentials);
  const isRight = await limits.tryPassword(email, { address, device }, () =>
    passwords.verify(form.get('password'), credentials?.passwordHash));
  if (!credentials || !isRight) {
    if (credentials) noteRefusal(portal, credentials.sellerId, address, 'Wrong password');
    return renderSignIn(visit, portal, {
      email, to: form.get('to'), draft, refusal: 'This e-mail and password do not belong together.',
    });
  }
  const to = readReturn(form.get('to'));
  if (!credentials.hasTotp) return completeSignIn(visit, portal, credentials, { to, draft });
  const cookie = await beginSecondStep(visit, portal, email, { credentials, to });
  // A draft is too large for the cookie, so each page passes it on.
  return draft === '' ? redirect(visit.link('/sign-in/code'), [cookie])
    : { ...renderCode(visit, portal, NO_FAULTS, draft), cookies: [cookie] };
}

/** POST /portal/sign-out: 303 */
export async function signOut(visit: PageRequest, { store }: Portal): Promise<Reply> {
  const { account, visitor, address } = visit;
  await store.endSessions(
    account.sellerId, { id: visitor.session.id }, { type: 'signed_out', address },
  );
  return redirect(visit.link('/sign-in'), [FORGET_SESSION]);
}

/** Nobody waits for it: how long a refusal takes must not tell that there is an account. */
export function noteRefusal(
  { store, limits, report }: Portal, sellerId: SellerId, address: string, subject: string,
): void {
  if (!limits.takeNote(sellerId)) return;
  store.noteAuditEvent({ sellerId, type: 'sign_in_refused', address, subject })
    .catch((error: unknown) => report({ id: 'sign-in-refused', error }));
}
