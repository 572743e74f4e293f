/** The roles in words, and who may not see a page or send a form: by role, or with one factor. */
import { lacksTwoFactor, type Role } from '../../../domain/access/account.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { alert } from '../html/elements.ts';
import { html } from '../html/html.ts';
import { redirect, renderPage } from '../html/page.ts';
import type { PageRequest, Portal } from '../route.ts';

export const ROLE_LABELS: Readonly<Record<Role, string>> = {
  owner: 'Owner', editor: 'Editor', viewer: 'Viewer',
};

/** What each role may do. */
export const ROLE_MEANINGS: Readonly<Record<Role, string>> = {
  owner: 'Everything, including API keys, webhooks and people.',
  editor: 'Create, edit, import and delete products, and change their stock.',
  viewer: 'See and export products, stock and their history. Changes nothing.',
};

/** What an account may do while its shop requires two factors and it has one. */
const SETUP_PATHS = /^\/(?:account\/(?:two-factor|pass|sessions)|sign-out$)/;

/** Undefined if the account may open the page, or send its form. */
export async function rejectAccount(
  request: PageRequest, portal: Portal,
  { role, path }: { readonly role: Role; readonly path: string },
): Promise<Reply | undefined> {
  if (lacksTwoFactor(request.account) && !SETUP_PATHS.test(path)) {
    return redirect(request.link('/account/two-factor'));
  }
  return request.may(role) ? undefined : renderRoleNeeded(request, portal, role);
}

/** Status 403. Says which role is needed, and who can give it. */
async function renderRoleNeeded(
  request: PageRequest, portal: Portal, role: Role,
): Promise<Reply> {
  const { account, link, record } = request;
  Object.assign(record, { securityEvent: 'role_denied', accountId: account.accountId });
  const people = await portal.store.listAccounts(account.sellerId);
  const owners = people.filter((person) => person.role === 'owner').map(({ name }) => name);
  const list = new Intl.ListFormat('en', { type: 'disjunction' }).format(owners);
  return renderPage(request, portal, {
    title: 'Your role does not allow this',
    status: 403,
    content: html`${alert('bad', html`<p>This needs the role ${ROLE_LABELS[role]}, and yours is
      ${ROLE_LABELS[account.role]}. Nothing was changed.
      ${list !== '' && html`Ask <bdi>${list}</bdi> to do it, or to change your role.`}</p>`)}
      <p><a class="button" href="${link('/')}">Go to the portal</a></p>`,
  });
}
