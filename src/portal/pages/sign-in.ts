/** Signing in and out. What is refused is refused alike, whether there is an account or not. */
import type { Reply } from '../../http/reply.ts';
import { faultSummary, postForm, textField } from '../fields.ts';
import { type Form, NO_FAULTS } from '../form.ts';
import { html } from '../html.ts';
import { redirect, renderOpenPage } from '../page.ts';
import type { OpenVisit, Portal, Visit } from '../route.ts';
import { beginSession, FORGET_SESSION } from '../session.ts';

/** GET /portal/sign-in: 200, 303 */
export async function showSignIn(visit: OpenVisit, portal: Portal): Promise<Reply> {
  if (visit.visitor) return redirect(visit.link('/'));
  const [seller] = await portal.store.listSellers({ after: undefined, limit: 1 });
  if (!seller) return redirect(visit.link('/join'));
  return renderSignIn(visit, portal, { email: '', to: visit.query.get('to') ?? '' });
}

/** POST /portal/sign-in: 303, 403, 422, 503 */
export async function signIn(visit: OpenVisit, portal: Portal, form: Form): Promise<Reply> {
  const { store, passwords } = portal;
  const email = form.getTrimmed('email').toLowerCase();
  const credentials = await store.findCredentials(email);
  const isRight = await passwords.verify(form.get('password'), credentials?.passwordHash);
  if (!credentials || !isRight) {
    return renderSignIn(visit, portal, {
      email, to: form.get('to'), refusal: 'This e-mail and password do not belong together.',
    });
  }
  const { session, cookie } = beginSession(visit.address, visit.headers['user-agent']);
  await store.createSession(credentials.sellerId, session);
  return redirect(visit.link(readReturn(form.get('to'))), [cookie]);
}

/** POST /portal/sign-out: 303 */
export async function signOut(visit: Visit, { store }: Portal): Promise<Reply> {
  const { account, visitor, address } = visit;
  await store.endSessions(
    account.sellerId, { id: visitor.session.id }, { type: 'signed_out', address },
  );
  return redirect(visit.link('/sign-in'), [FORGET_SESSION]);
}

interface Shown {
  readonly email: string;
  /** The page to go on to. */
  readonly to: string;
  readonly refusal?: string;
}

function renderSignIn(visit: OpenVisit, portal: Portal, { email, to, refusal }: Shown): Reply {
  return renderOpenPage(visit, portal, {
    title: 'Sign in',
    status: refusal === undefined ? 200 : 422,
    content: html`${faultSummary(NO_FAULTS, refusal)}
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

/** A page of this portal; the first one for anything else. */
function readReturn(to: string): string {
  const isOwn = /^\/[\w~.!$&'()*+,;=:@%/?-]*$/.test(to) && !to.startsWith('//');
  return isOwn ? to : '/';
}
