/** What is done for everybody who gets in, however they showed who they are. */
import type { SellerId } from '../../../domain/id.ts';
import type { Reply } from '../../../http/response/reply.ts';
import type { Credentials } from '../../../store/account-store.ts';
import { decryptDraft } from '../forms/draft.ts';
import { redirect } from '../html/page.ts';
import type { AnonymousPageRequest, Portal } from '../route.ts';
import { makeDeviceCookie, readDevice } from './device.ts';
import { beginSession } from './session.ts';
import { CLEAR_TWO_FACTOR_COOKIE } from './two-factor.ts';

type Known = Pick<Credentials, 'sellerId' | 'passwordHash'>;

/** Where the sign-in leads. */
interface Destination {
  /** A page. */
  readonly to: string;
  /** The form to return to, encrypted; empty where there is none. */
  readonly draft: string;
}

/**
 * Begins a session, in the place of one that this browser had, and goes on to a page; to that of
 * the sign-in where the account has changed since it was asked for.
 */
export async function completeSignIn(
  request: AnonymousPageRequest, portal: Portal, known: Credentials,
  { to, draft: encrypted }: Destination,
): Promise<Reply> {
  const { user, address, headers } = request;
  const { store } = portal;
  if (user) {
    const { account, session } = user;
    await store.endSessions(account.sellerId, { id: session.id }, { type: 'signed_out', address });
  }
  const { session, cookie, token } = beginSession(address, headers['user-agent']);
  const isIn = await store.createSession(known.sellerId, session, known);
  if (!isIn) return redirect(request.link('/sign-in?late'), [CLEAR_TWO_FACTOR_COOKIE]);
  const device = await rememberDevice(request, portal, known);
  const cookies = [cookie, CLEAR_TWO_FACTOR_COOKIE, ...device];
  const draft = await decryptDraft(request, portal, encrypted);
  if (!draft) return redirect(request.link(to), cookies);
  // Another account's draft in this browser, and its page, are not for this account.
  if (draft.sellerId !== known.sellerId) return redirect(request.link('/'), cookies);
  return { ...await portal.resume(request, token, draft), cookies };
}

/** The cookie that makes a browser known to an account; none where the server cannot seal it. */
export async function rememberDevice(
  { headers }: AnonymousPageRequest, { store, report }: Portal, known: Known,
): Promise<readonly string[]> {
  try {
    return [await makeDeviceCookie(store, known, await readDevice(store, headers.cookie))];
  } catch (error) {
    report({ id: 'device', error }); // nobody is kept out for this
    return [];
  }
}

/** A page of this portal, to go on to; the first one for anything else. */
export function readReturn(to: string): string {
  const isOwn = /^\/[\w~.!$&'()*+,;=:@%/?-]{0,1000}$/.test(to) && !to.startsWith('//');
  return isOwn ? to : '/';
}

/** Nobody waits for it: how long a refusal takes must not tell that there is an account. */
export function noteRefusal(
  { store, limits, report }: Portal, sellerId: SellerId, address: string, subject: string,
): void {
  if (!limits.takeNote(sellerId)) return;
  store.noteAuditEvent({ sellerId, type: 'sign_in_refused', address, subject })
    .catch((error: unknown) => report({ id: 'sign-in-refused', error }));
}
