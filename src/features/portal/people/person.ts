/** What owners change of a person: name, role, and whether they are in the shop at all. */
import { type Account, parseRole, type Role } from '../../../domain/access/account.ts';
import { actorName } from '../../../domain/access/caller.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { defineForm, renderFormPage } from '../forms/form-page.ts';
import { type Form, takeValue } from '../forms/form.ts';
import { type Content, html } from '../html/html.ts';
import { redirect } from '../html/page.ts';
import type { PageRequest, Portal } from '../route.ts';
import { CURRENT_PASSWORD } from '../sign-in/password-fields.ts';
import { CLEAR_SESSION_COOKIE } from '../sign-in/session.ts';
import { NAME_FIELD, ROLE_FIELD } from './invite.ts';
import { getPerson, pathOf } from './people.ts';

const ROLE_FIELDS = [ROLE_FIELD, CURRENT_PASSWORD];

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
  read: readName,
  async save(name, request, portal, { errors }) {
    const person = await getPerson(request, portal);
    return saveName(person, name, request, portal, { errors, next: '/people?done=renamed' });
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
  read: readName,
  save: (name, request, portal, { errors }) =>
    saveName(request.account, name, request, portal, { errors, next: '/account?done=name' }),
});

/** GET /portal/people/{account_id}/role: 200, 404. POST: 303, 403, 404, 409, 422, 429, 503 */
export const roleForm = defineForm<Role>({
  fields: ROLE_FIELDS,
  async render(request, portal, state) {
    const person = await getPerson(request, portal);
    return renderFormPage(request, portal, {
      title: `Change the role of ${person.name}`, action: `${pathOf(person)}/role`,
      cancel: pathOf(person), submit: 'Change role',
      fields: [{ ...ROLE_FIELD, initial: person.role }, CURRENT_PASSWORD],
      before: html`<p>The new role applies at once. ${warnOwner(person.role)}</p>`,
    }, state);
  },
  read: (form, errors) => takeValue(errors, 'role', parseRole(form.get('role')), 'viewer'),
  async save(role, request, portal) {
    await portal.store.setRole(await getPerson(request, portal), role, request.by);
    return redirect(request.link('/people?done=role'));
  },
});

/** GET /portal/people/{account_id}/remove: 200, 404. POST: 303, 403, 404, 409, 422, 429, 503 */
export const removalForm = defineForm({
  fields: [CURRENT_PASSWORD],
  async render(request, portal, state) {
    const person = await getPerson(request, portal);
    const isSelf = isOwn(request, person);
    const path = pathOf(person);
    return renderFormPage(request, portal, {
      title: isSelf ? 'Leave the shop' : `Remove ${person.name}`, action: `${path}/remove`,
      cancel: path, submit: isSelf ? 'Leave the shop' : 'Remove', isDestructive: true,
      fields: [CURRENT_PASSWORD],
      before: html`<p>${isSelf ? 'You are' : html`<bdi>${person.name}</bdi> (${person.email}) is`}
        signed out everywhere at once and cannot sign in again. Changes keep the name. ${
  warnOwner(person.role)}</p>`,
    }, state);
  },
  read: () => undefined,
  async save(_, request, portal) {
    const person = await getPerson(request, portal);
    await portal.store.removeAccount(person, request.by);
    return isOwn(request, person) ? redirect(request.link('/sign-in'), [CLEAR_SESSION_COOKIE])
      : redirect(request.link('/people?done=removed'));
  },
});

function readName(form: Form, errors: Map<string, string>): string {
  return takeValue(errors, 'name', actorName.parse(form.getTrimmed('name')), '');
}

async function saveName(
  account: Account, name: string, { by, link }: PageRequest, { store }: Portal,
  { errors, next }: { readonly errors: Map<string, string>; readonly next: string },
): Promise<Reply | undefined> {
  if (await store.setAccountName(account, name, by)) return redirect(link(next));
  errors.set('name', 'Someone in the shop has this name.');
  return undefined;
}

function isOwn({ account }: PageRequest, { accountId }: Account): boolean {
  return accountId === account.accountId;
}

function warnOwner(role: Role): Content {
  return role === 'owner' && 'Open invitations end, because owners know their links. API keys keep '
    + 'working: revoke those that this person may have kept.';
}
