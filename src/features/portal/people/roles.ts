/** The roles in words, and the page that a role may not see, or whose form it may not send. */
import type { Role } from '../../../domain/access/account.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { alert } from '../html/elements.ts';
import { html } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
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

/** Status 403. Says which role is needed, and who can give it. */
export async function renderRoleNeeded(
  request: PageRequest, portal: Portal, role: Role,
): Promise<Reply> {
  const { account, link } = request;
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
