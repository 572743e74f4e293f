/** An account's sessions: lists them, and signs out one browser or all others. */
import type { AccountReference } from '../../../domain/access/account.ts';
import { AppError } from '../../../domain/error.ts';
import type { Session } from '../../../store/account-store.ts';
import { SESSIONS_PER_ACCOUNT_LIMIT } from '../../../store/limits.ts';
import { postForm } from '../forms/fields.ts';
import { findWholeNumber } from '../forms/typed-values.ts';
import { describeBrowser } from '../html/browser.ts';
import { flashNotice, type Row, table } from '../html/elements.ts';
import { html, type Html } from '../html/html.ts';
import { redirect, renderPage } from '../html/page.ts';
import type { PageRequest, Portal, Show, Submit } from '../route.ts';
import { redirectSignedOut } from '../sign-in/sign-in-pages.ts';
import { isAlive } from '../sign-in/session.ts';

const DONE = new Map([
  ['one', 'Browser signed out.'],
  ['others', 'All other browsers signed out.'],
]);

/** After a change of the factors of a sign-in (ASVS 7.4.3). */
export function offerToEndSessions(request: PageRequest): Html {
  return postForm(request, request.link('/account/sessions'), html`<button class="small"
    name="session" value="others">Sign out all other browsers</button>`, '');
}

/** GET /portal/account/sessions: 200 */
export const showSessions: Show = async (request, portal) => {
  const sessions = await listSessions(portal, request.account);
  return renderPage(request, portal, {
    title: 'Sessions',
    content: html`${flashNotice(request, DONE)}
      <p>These browsers are signed in to your account. If you don't recognize one, sign it out and
        <a href="${request.link('/account/password')}">change your password</a>.</p>
      ${postForm(request, request.link('/account/sessions'), html`
        ${table({
    caption: 'Signed-in browsers',
    columns: ['Browser', 'Address', 'Signed in', 'Last seen', 'Action'],
    rows: sessions.map((session) => renderSession(request, session)), empty: '',
  })}
        ${sessions.length > 1
          && html`<button class="danger" name="session" value="others">Sign out all
            others</button>`}`, '')}`,
  });
};

/** An account's unexpired sessions. */
export async function listSessions(
  { store }: Portal, account: AccountReference,
): Promise<readonly Session[]> {
  const sessions = await store.listSessions(account, SESSIONS_PER_ACCOUNT_LIMIT);
  return sessions.filter((session) => isAlive(session, store.now()));
}

/** POST /portal/account/sessions: 303, 404 */
export const endSessions: Submit = async (request, portal, form) => {
  const { account, user, by, link } = request;
  const { store } = portal;
  const selection = form.get('session');
  const event = { ...by, type: 'session_ended' } as const;
  if (selection === 'others') {
    await store.endSessions(account, { allBut: user.session.id }, event);
    return redirect(link('/account/sessions?done=others'));
  }
  const id = findWholeNumber(selection);
  if (id === undefined) throw new AppError('not_found', 'This session does not exist.');
  await store.endSessions(account, { id }, event);
  return id === user.session.id ? redirectSignedOut(request, portal)
    : redirect(link('/account/sessions?done=one'));
};

function renderSession({ user, format }: PageRequest, session: Session): Row {
  const { id, address, userAgent, createdAt, seenAt } = session;
  const browser = describeBrowser(userAgent);
  const action = id === user.session.id ? html`<span class="tag good">This browser</span>`
    : html`<button class="small" name="session" value="${id}">Sign out<span class="hidden">
        ${browser}</span></button>`;
  const from = address === '' ? 'Unknown' : html`<code>${address}</code>`;
  return [browser, from, format.timeElement(createdAt), format.timeElement(seenAt), action];
}
