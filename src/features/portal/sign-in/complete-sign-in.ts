/**
 * What follows every sign-in: a new session, a known browser, and the page or form to return to.
 */
import type { SellerId } from '../../../domain/id.ts';
import type { Reply } from '../../../http/response/reply.ts';
import type { Credentials } from '../../../store/account-store.ts';
import { decryptDraft } from '../forms/draft.ts';
import { redirect } from '../html/page.ts';
import { showDraft } from '../page-request.ts';
import type { AnonymousPageRequest, Portal } from '../route.ts';
import { makeDeviceCookie, readDevice } from './device.ts';
import { startSession } from './session.ts';
import { CLEAR_TWO_FACTOR_COOKIE } from './two-factor.ts';

/** Where the sign-in leads. */
interface Destination {
  /** A page. */
  readonly to: string;
  /** The form to return to, encrypted; empty without one. */
  readonly draft: string;
}

/**
 * Starts a session, ends the one this browser had, and redirects to the page. If the credentials
 * have changed since they were verified, redirects to the sign-in instead.
 */
export async function completeSignIn(
  request: AnonymousPageRequest, portal: Portal, verified: Credentials,
  { to, draft: encrypted }: Destination,
): Promise<Reply> {
  const { user, address, headers } = request;
  const { store } = portal;
  if (user) {
    const { account, session } = user;
    await store.endSessions(account.sellerId, { id: session.id }, { type: 'signed_out', address });
  }
  const { session, cookie, token } = startSession(address, headers['user-agent']);
  const isSignedIn = await store.createSession(verified.sellerId, session, verified);
  if (!isSignedIn) return redirect(request.link('/sign-in?late'), [CLEAR_TWO_FACTOR_COOKIE]);
  const device = await rememberDevice(request, portal, verified);
  const cookies = [cookie, CLEAR_TWO_FACTOR_COOKIE, ...device];
  const draft = await decryptDraft(request, portal, encrypted);
  if (!draft) return redirect(request.link(to), cookies);
  // Another account's draft in this browser, and its page, are not for this account.
  if (draft.sellerId !== verified.sellerId) return redirect(request.link('/'), cookies);
  return { ...await showDraft(request, portal, token, draft), cookies };
}

/** The cookie that makes a browser known to an account; none if the server cannot encrypt it. */
export async function rememberDevice(
  { headers }: AnonymousPageRequest, { store, report }: Portal,
  account: Pick<Credentials, 'sellerId' | 'passwordHash'>,
): Promise<readonly string[]> {
  try {
    return [await makeDeviceCookie(store, account, await readDevice(store, headers.cookie))];
  } catch (error) {
    report({ id: 'device', error }); // the sign-in goes on without it
    return [];
  }
}

/** The path of a portal page to redirect to; the start page for anything else. */
export function toPagePath(to: string): string {
  const isOwn = /^\/[\w~.!$&'()*+,;=:@%/?-]{0,1000}$/.test(to) && !to.startsWith('//');
  return isOwn ? to : '/';
}

/** Does not wait for the write: the response time must not reveal that the account exists. */
export function logFailedSignIn(
  { store, limits, report }: Portal, sellerId: SellerId, address: string, subject: string,
): void {
  if (!limits.takeLogEntry(sellerId)) return;
  store.noteAuditEvent({ sellerId, type: 'sign_in_refused', address, subject })
    .catch((error: unknown) => report({ id: 'sign-in-refused', error }));
}
