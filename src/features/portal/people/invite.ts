/**
 * Inviting someone to the shop. The response to the form shows a link and its code once; the store
 * keeps only a hash. The code is in the link's fragment, which browsers send to no server.
 */
import { isSameName, parseRole, type Role, ROLES } from '../../../domain/access/account.ts';
import { actorName } from '../../../domain/access/caller.ts';
import { generateCode, hashCode } from '../../../domain/access/human-code.ts';
import { ACTOR_LIMIT_CODE_POINTS, INVITATION_CODE_LIFE_MS } from '../../../domain/limits.ts';
import type { Reply } from '../../../http/response/reply.ts';
import type { Field } from '../forms/fields.ts';
import { defineForm, renderFormPage } from '../forms/form-page.ts';
import { takeValue } from '../forms/form.ts';
import { copyable } from '../html/elements.ts';
import { html } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import { type PageRequest, type Portal, ROOT } from '../route.ts';
import { CURRENT_PASSWORD } from '../sign-in/password-fields.ts';
import { listInvitations } from './people.ts';
import { ROLE_LABELS, ROLE_MEANINGS } from './roles.ts';

export const NAME_FIELD = {
  name: 'name', label: 'Name', isRequired: true, maxLength: ACTOR_LIMIT_CODE_POINTS,
  autocomplete: 'off', hint: 'Shown beside every change that this person makes.',
} as const satisfies Field;
export const ROLE_FIELD: Field = {
  name: 'role', label: 'Role', control: 'radio', initial: 'editor',
  choices: ROLES.map((role) => ({
    value: role, label: html`<strong>${ROLE_LABELS[role]}</strong>: ${ROLE_MEANINGS[role]}`,
  })),
};
const FIELDS: readonly Field[] = [NAME_FIELD, ROLE_FIELD, CURRENT_PASSWORD];

interface Invited {
  readonly name: string;
  readonly role: Role;
}

/** GET /portal/people/new: 200. POST: 200, 403, 409, 422, 429, 503 */
export const inviteForm = defineForm<Invited>({
  fields: FIELDS,
  render: (request, portal, state) => renderFormPage(request, portal, {
    title: 'Invite someone', action: '/people/new', cancel: '/people',
    submit: 'Create invitation', fields: FIELDS,
  }, state),
  read: (form, errors) => ({
    name: takeValue(errors, 'name', actorName.parse(form.getTrimmed('name')), ''),
    role: takeValue(errors, 'role', parseRole(form.get('role')), 'viewer'),
  }),
  async save({ name, role }, request, portal, { errors }) {
    const { account: { sellerId }, by } = request;
    const people = await portal.store.listAccounts(sellerId);
    const invitations = await listInvitations(request, portal);
    const isTaken = [...people, ...invitations].some((other) =>
      other.name !== undefined && isSameName(other.name, name));
    if (isTaken) {
      errors.set('name', 'Someone in the shop, or invited to it, has this name.');
      return undefined;
    }
    const code = generateCode();
    const expiresAt = portal.clock() + INVITATION_CODE_LIFE_MS;
    const invitation = { sellerId, role, name, isFirst: false, expiresAt };
    await portal.store.createInvitation(hashCode(code) ?? '', invitation, by);
    return renderCreated(request, portal, invitation, code);
  },
});

function renderCreated(
  request: PageRequest, portal: Portal,
  { name, role, expiresAt }: Invited & { readonly expiresAt: number }, code: string,
): Reply {
  const { base, link, format } = request;
  return renderPage(request, portal, {
    title: 'Invitation created',
    content: html`<div class="card stack"><p>Send this link to <bdi>${name}</bdi>, who chooses a
      password and joins as ${ROLE_LABELS[role]}. It works once, until
      ${format.time(expiresAt)}. You won't see it again. Anyone who has it can
      join.</p>
      ${copyable('link', `${base.url}${ROOT}/join?shop=existing#${code}`)}
      <p>If the page asks for the code:</p>
      ${copyable('code', code)}
      <p><a class="button primary" href="${link('/people')}">I've sent it</a></p></div>`,
  });
}
