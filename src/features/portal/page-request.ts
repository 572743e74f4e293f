/** Builds a signed-in user's request, also to show a form draft after the user signs in again. */
import { includesRole, type Role } from '../../domain/access/account.ts';
import { PORTAL_KEY_ID } from '../../domain/id.ts';
import type { Reply } from '../../http/response/reply.ts';
import type { SignedInSession } from '../../store/account-store.ts';
import { makeCsrfToken } from './forms/csrf.ts';
import { Form } from './forms/form.ts';
import { redirect, renderErrorPage } from './html/page.ts';
import type { AnonymousPageRequest, Draft, PageRequest, Portal } from './route.ts';
import { rejectAccount } from './people/roles.ts';
import { assertSignedIn, findSession } from './sign-in/session.ts';

/** @param role The role that the page needs. */
export function toSignedInRequest(
  request: AnonymousPageRequest, user: SignedInSession, portal: Portal, role: Role = 'viewer',
): PageRequest {
  const { account, position } = user;
  const { response, record, address } = request;
  const reauthorize = (): Promise<void> => assertSignedIn(request, portal, role);
  return {
    ...request, user, account, position, generation: portal.store.generation,
    by: { actorName: account.name, accountId: account.accountId, address },
    may: (role) => includesRole(account.role, role),
    isDraft: false,
    reauthorize,
    format: portal.findFormat(account),
    openStream: portal.streams.openerFor({
      key: { sellerId: account.sellerId, keyId: PORTAL_KEY_ID },
      acquire: () => portal.limits.acquireStream(account),
      response, record, reauthorize,
    }),
  };
}

/** Shows a draft in its form, to the session that has just started with this token. */
export async function showDraft(
  request: AnonymousPageRequest, portal: Portal, token: string, draft: Draft,
): Promise<Reply> {
  const { route, parameters } = portal.router.find('POST', draft.path);
  const user = await findSession(portal, token);
  const draftRoute = 'draft' in route ? route.draft : undefined;
  if (!user || !draftRoute || !('role' in route)) return redirect(request.link('/'));
  const own = toSignedInRequest({
    ...request, path: draft.path, parameters, query: new Form(),
    csrfToken: makeCsrfToken(token), user,
  }, user, portal);
  const rejection = await rejectAccount(own, portal, route);
  if (rejection) return rejection;
  try {
    const form = new Form(draft.fields.map(([name, value]) => [name, value]));
    return await draftRoute.show({ ...own, isDraft: true }, portal, form);
  } catch (error) {
    return renderErrorPage(error, portal, own); // such as a product that was deleted
  }
}
