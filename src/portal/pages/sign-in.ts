/** Signing in and out. What is refused is refused alike, whether there is an account or not. */
import type { SellerId } from '../../domain/id.ts';
import type { Reply } from '../../http/reply.ts';
import { findDeviceId, readDevice } from '../device.ts';
import { enter, readReturn } from '../entrance.ts';
import { faultSummary, notice, postForm, textField } from '../fields.ts';
import { type Form, NO_FAULTS } from '../form.ts';
import { html } from '../html.ts';
import { redirect, renderOpenPage } from '../page.ts';
import type { OpenVisit, Portal, Visit } from '../route.ts';
import { beginSecondStep } from '../second-step.ts';
import { FORGET_SESSION } from '../session.ts';

/** GET /portal/sign-in: 200, 303 */
export async function showSignIn(visit: OpenVisit, portal: Portal): Promise<Reply> {
  const to = visit.query.get('to') ?? '';
  if (visit.visitor) return redirect(visit.link(readReturn(to)));
  const [seller] = await portal.store.listSellers({ after: undefined, limit: 1 });
  if (!seller) return redirect(visit.link('/join'));
  return renderSignIn(visit, portal, { email: '', to, isLate: visit.query.has('late') });
}

/** POST /portal/sign-in: 303, 422, 429, 503 */
export async function signIn(visit: OpenVisit, portal: Portal, form: Form): Promise<Reply> {
  const { store, passwords, limits } = portal;
  const { address } = visit;
  const email = form.getTrimmed('email').toLowerCase();
  const credentials = await store.findCredentials(email);
  const device = findDeviceId(await readDevice(store, visit.headers.cookie), credentials);
  const isRight = await limits.tryPassword(email, { address, device }, () =>
    passwords.verify(form.get('password'), credentials?.passwordHash));
  if (!credentials || !isRight) {
    if (credentials) noteRefusal(portal, credentials.sellerId, address, 'Wrong password');
    return renderSignIn(visit, portal, {
      email, to: form.get('to'), refusal: 'This e-mail and password do not belong together.',
    });
  }
  const to = readReturn(form.get('to'));
  if (!credentials.hasTotp) return enter(visit, portal, credentials, to);
  const cookie = await beginSecondStep(visit, portal, email, { credentials, to });
  return redirect(visit.link('/sign-in/code'), [cookie]);
}

/** POST /portal/sign-out: 303 */
export async function signOut(visit: Visit, { store }: Portal): Promise<Reply> {
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

interface Shown {
  readonly email: string;
  /** The page to go on to. */
  readonly to: string;
  readonly refusal?: string;
  /** Whether the second step came too late. */
  readonly isLate?: boolean;
}

function renderSignIn(
  visit: OpenVisit, portal: Portal, { email, to, refusal, isLate }: Shown,
): Reply {
  return renderOpenPage(visit, portal, {
    title: 'Sign in',
    status: refusal === undefined ? 200 : 422,
    content: html`${faultSummary(NO_FAULTS, refusal)}
      ${isLate && notice(html`<p>That took too long. Sign in again, please.</p>`)}
      ${postForm(visit, visit.link('/sign-in'), html`
        <input type="hidden" name="to" value="${to}">
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
    ? html`New here? <a href="${visit.link('/join')}">Open a shop</a>.`
    : html`Were you invited? <a href="${visit.link('/join')}">Use your code</a>.`}</p>`,
  });
}
