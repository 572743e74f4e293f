/** What owners change of a person: name, role, and whether they are in the shop at all. */
import { parseRole, type Role } from '../../../domain/access/account.ts';
import { actorName } from '../../../domain/access/caller.ts';
import { AppError } from '../../../domain/error.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { confirmation, defineForm, renderFormPage } from '../forms/form-page.ts';
import { takeValue } from '../forms/form.ts';
import { alert } from '../html/elements.ts';
import { type Content, html } from '../html/html.ts';
import { redirect, renderPage } from '../html/page.ts';
import type { PageRequest, Portal } from '../route.ts';
import { CLEAR_SESSION_COOKIE } from '../sign-in/session.ts';
import { NAME_FIELD, ROLE_FIELD } from './invite.ts';
import { getPerson, pathOf } from './people.ts';

const NAME_TAKEN = 'Someone in the shop has this name.';

/** GET /portal/people/{account_id}/name: 200, 404. POST: 303, 404, 422 */
export const personNameForm = defineForm({
  fields: [NAME_FIELD],
  async render(request, portal, state) {
    const person = await getPerson(request, portal);
    return renderFormPage(request, portal, {
      title: 'Change name', action: `${pathOf(person)}/name`, cancel: pathOf(person),
      submit: 'Change name', fields: [{ ...NAME_FIELD, initial: person.name }],
      before: html`<p>Earlier changes keep the name
        <strong><bdi>${person.name}</bdi></strong>.</p>`,
    }, state);
  },
  read: (form, errors) =>
    takeValue(errors, 'name', actorName.parse(form.getTrimmed('name')), ''),
  async save(name, request, portal, { errors }) {
    const isSaved = await portal.store.setAccountName(
      await getPerson(request, portal), name, request.by);
    if (isSaved) return redirect(request.link('/people?done=renamed'));
    errors.set('name', NAME_TAKEN);
    return undefined;
  },
});

/** GET /portal/account/name: 200. POST: 303, 422. For everyone, of themselves. */
export const ownNameForm = defineForm({
  fields: [NAME_FIELD],
  render: (request, portal, state) => renderFormPage(request, portal, {
    title: 'Change name', action: '/account/name', cancel: '/account', submit: 'Change name',
    fields: [{ ...NAME_FIELD, autocomplete: 'name', hint: 'Shown beside every change you make.' }],
  }, state),
  initial: ({ account: { name } }) => ({ name }),
  read: (form, errors) =>
    takeValue(errors, 'name', actorName.parse(form.getTrimmed('name')), ''),
  async save(name, { account, by, link }, { store }, { errors }) {
    if (await store.setAccountName(account, name, by)) return redirect(link('/account?done=name'));
    errors.set('name', NAME_TAKEN);
    return undefined;
  },
});

/** GET /portal/people/{account_id}/role: 200, 404. POST: 303, 404, 409, 422 */
export const roleForm = defineForm<Role>({
  fields: [ROLE_FIELD],
  async render(request, portal, state) {
    const person = await getPerson(request, portal);
    return renderFormPage(request, portal, {
      title: `Change the role of ${person.name}`, action: `${pathOf(person)}/role`,
      cancel: pathOf(person), submit: 'Change role',
      fields: [{ ...ROLE_FIELD, initial: person.role }],
      before: html`<p>The new role applies at once. ${warnOwner(person.role)}</p>`,
    }, state);
  },
  read: (form, errors) => takeValue(errors, 'role', parseRole(form.get('role')), 'viewer'),
  async save(role, request, portal) {
    await portal.store.setRole(await getPerson(request, portal), role, request.by);
    return redirect(request.link('/people?done=role'));
  },
});

/** GET /portal/people/{account_id}/remove: 200, 404 */
export async function showRemoval(request: PageRequest, portal: Portal): Promise<Reply> {
  return renderRemoval(request, portal);
}

async function renderRemoval(
  request: PageRequest, portal: Portal, problem?: string,
): Promise<Reply> {
  const person = await getPerson(request, portal);
  const path = request.link(pathOf(person));
  const isSelf = person.accountId === request.account.accountId;
  return renderPage(request, portal, {
    title: isSelf ? 'Leave the shop' : `Remove ${person.name}`,
    status: problem === undefined ? 200 : 409,
    content: html`${problem !== undefined && alert('bad', html`<p>${problem}</p>`)}
      <p>${isSelf ? 'You are' : html`<bdi>${person.name}</bdi> (${person.email}) is`} signed out
        everywhere at once and cannot sign in again. Changes keep the name. ${
    warnOwner(person.role)}</p>
      ${confirmation(request, {
    action: `${path}/remove`, cancel: path, submit: isSelf ? 'Leave the shop' : 'Remove',
  })}`,
  });
}

/** POST /portal/people/{account_id}/remove: 303, 404, 409 */
export async function removePerson(request: PageRequest, portal: Portal): Promise<Reply> {
  const person = await getPerson(request, portal);
  try {
    await portal.store.removeAccount(person, request.by);
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'limit_reached')) throw error;
    return renderRemoval(request, portal, error.publicDetail);
  }
  return person.accountId === request.account.accountId
    ? redirect(request.link('/sign-in'), [CLEAR_SESSION_COOKIE])
    : redirect(request.link('/people?done=removed'));
}

function warnOwner(role: Role): Content {
  return role === 'owner' && 'Open invitations end, because owners know their links. API keys keep '
    + 'working: revoke those that this person may have kept.';
}
