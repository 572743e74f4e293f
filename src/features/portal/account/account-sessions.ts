/** Where somebody is signed in, and the end of it: of one browser, or of all the others. */
import { AppError } from '../../../domain/error.ts';
import type { Reply } from '../../../http/response/reply.ts';
import type { Session } from '../../../store/account-store.ts';
import { SESSIONS_PER_SELLER_LIMIT } from '../../../store/limits.ts';
import { postForm } from '../forms/fields.ts';
import type { Form } from '../forms/form.ts';
import { findWholeNumber } from '../forms/typed-values.ts';
import { describeBrowser } from '../html/browser.ts';
import { flashNotice, type Row, table } from '../html/elements.ts';
import { html } from '../html/html.ts';
import { redirect, renderPage } from '../html/page.ts';
import type { PageRequest, Portal } from '../route.ts';
import { CLEAR_SESSION_COOKIE, isAlive } from '../sign-in/session.ts';

const DONE = new Map([
  ['one', 'That browser is signed out.'],
  ['others', 'All other browsers are signed out.'],
]);

/** GET /portal/account/sessions: 200 */
export async function showSessions(request: PageRequest, portal: Portal): Promise<Reply> {
  const { sellerId } = request.account;
  const sessions = (await portal.store.listSessions(sellerId, SESSIONS_PER_SELLER_LIMIT))
    .filter((session) => isAlive(session, portal.clock()));
  const columns = ['Browser', 'Address', 'Signed in', 'Last seen', 'End'];
  return renderPage(request, portal, {
    title: 'Where you are signed in',
    content: html`${flashNotice(request, DONE)}
      <p>Is there one that you do not know? End it, and
        <a href="${request.link('/account/password')}">change your password</a>.</p>
      ${postForm(request, request.link('/account/sessions'), html`
        ${table({
    caption: 'Browsers that are signed in', columns,
    rows: sessions.map((session) => renderSession(request, session)), empty: '',
  })}
        ${sessions.length > 1
          && html`<button name="session" value="others">Sign out all others</button>`}`, '')}`,
  });
}

/** POST /portal/account/sessions: 303, 404 */
export async function endSessions(
  { account, user, address, link }: PageRequest, { store }: Portal, form: Form,
): Promise<Reply> {
  const { sellerId } = account;
  const ended = form.get('session');
  const event = { type: 'session_ended', address } as const;
  if (ended === 'others') {
    await store.endSessions(sellerId, { allBut: user.session.id }, event);
    return redirect(link('/account/sessions?done=others'));
  }
  const id = findWholeNumber(ended);
  if (id === undefined) throw new AppError('not_found', 'There is no such session.');
  await store.endSessions(sellerId, { id }, event);
  return id === user.session.id
    ? redirect(
      link('/sign-in'), [CLEAR_SESSION_COOKIE]) : redirect(link('/account/sessions?done=one'),
    );
}

function renderSession({ user, format }: PageRequest, session: Session): Row {
  const { id, address, userAgent, createdAt, seenAt } = session;
  const browser = describeBrowser(userAgent);
  const from = address === '' ? 'unknown' : html`<code>${address}</code>`;
  const end = id === user.session.id ? html`<span class="tag good">This one</span>`
    : html`<button class="small" name="session" value="${id}">End<span class="hidden">
        ${browser}</span></button>`;
  return [browser, from, format.timeElement(createdAt), format.timeElement(seenAt), end];
}
