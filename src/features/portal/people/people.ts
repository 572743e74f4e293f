/**
 * The people of a shop and those who are invited. Everyone sees the list; owners invite people, and
 * change their names and roles, or remove them. The response to an invitation shows a link and its
 * code once; the store keeps only a hash. The code is in the link's fragment, which browsers send
 * to no server.
 */
import {
  type Account, isSameName, parseRole, type Role, ROLES,
} from '../../../domain/access/account.ts';
import { actorName } from '../../../domain/access/caller.ts';
import { generateCode, hashCode } from '../../../domain/access/human-code.ts';
import { AppError } from '../../../domain/error.ts';
import type { AccountId } from '../../../domain/id.ts';
import { ACTOR_LIMIT_CODE_POINTS, INVITATION_CODE_LIFE_MS } from '../../../domain/limits.ts';
import type { Reply } from '../../../http/response/reply.ts';
import type { Invitation, StoredInvitation } from '../../../store/account-store.ts';
import { type Field, postForm } from '../forms/fields.ts';
import { defineFormPage } from '../forms/form-page.ts';
import { type Form, hiddenField, takeValue } from '../forms/form.ts';
import { findWholeNumber } from '../forms/typed-values.ts';
import { card, copyable, facts, flashNotice, type Row, table } from '../html/elements.ts';
import { type Content, html } from '../html/html.ts';
import { redirect, renderPage } from '../html/page.ts';
import { type PageRequest, type Portal, ROOT, type Show, type Submit } from '../route.ts';
import { CURRENT_PASSWORD } from '../sign-in/password-fields.ts';
import { redirectSignedOut } from '../sign-in/sign-in-pages.ts';
import { ROLE_LABELS, ROLE_MEANINGS } from './roles.ts';

const DONE = new Map([
  ['renamed', 'Name changed.'], ['role', 'Role changed.'], ['removed', 'Account removed.'],
  ['signed-out', 'Signed out everywhere.'], ['optional', 'Two-factor authentication is optional.'],
  ['required', 'Two-factor authentication is required.'],
  ['revoked', 'Invitation revoked. Its link no longer works.'],
]);

/** GET /portal/people: 200 */
export const showPeople: Show = async (request, portal) => {
  const { account, link } = request;
  const people = await portal.store.listAccounts(account.sellerId);
  const invitations = await listInvitations(request, portal);
  const isOwner = request.may('owner');
  return renderPage(request, portal, {
    title: 'People',
    content: html`${flashNotice(request, DONE)}
      ${isOwner && html`<p class="actions">
        <a class="button primary" href="${link('/people/new')}">Invite someone</a>
        <a class="button" href="${link('/people/two-factor')}">${account.requiresTwoFactor
    ? 'Make' : 'Require'} two-factor authentication${account.requiresTwoFactor
    && ' optional'}</a></p>`}
      ${table({
    caption: 'People of this shop',
    columns: ['Name', 'E-mail', 'Role', 'Two-factor authentication', 'Last seen',
      ...isOwner ? ['Action'] : []],
    rows: [
      ...people.map((person) => renderPerson(request, person)),
      ...invitations.map((invitation) => renderInvitation(request, invitation)),
    ],
  })}
      ${card('roles', 'Roles', facts(ROLES.map((role) =>
    [ROLE_LABELS[role], ROLE_MEANINGS[role]])))}`,
  });
};

function renderPerson(request: PageRequest, person: Account): Row {
  const { account, format, link } = request;
  const { accountId, name, email, role, seenAt } = person;
  const twoFactor = describeTwoFactor(person);
  const isSelf = accountId === account.accountId;
  return [
    html`<bdi>${name}</bdi>${isSelf && html` <span class="tag">You</span>`}`,
    email, ROLE_LABELS[role],
    html`<span class="tag${twoFactor !== 'Off' && ' good'}">${twoFactor}</span>`,
    format.timeElement(seenAt),
    ...request.may('owner') ? [html`<a href="${link(pathOf(person))}">Manage<span class="hidden">
      ${name}</span></a>`] : [],
  ];
}

/** A passkey is both factors, for an account that signs in with nothing else. */
function describeTwoFactor({ hasTotp, isPasswordOff }: Account): 'On' | 'Passkey' | 'Off' {
  if (isPasswordOff) return 'Passkey';
  return hasTotp ? 'On' : 'Off';
}

function renderInvitation(request: PageRequest, invitation: StoredInvitation): Row {
  const { format, link } = request;
  const { hash, name = 'Without a name', role, expiresAt } = invitation;
  return [
    html`<bdi>${name}</bdi> <span class="tag low">Invited</span>`,
    html`Until ${format.fullTimeElement(expiresAt)}`, ROLE_LABELS[role], '–', '–',
    ...request.may('owner') ? [postForm(
      request, link(`/people/invitations/${hash}/revoke`), html`<button class="small danger">Revoke
        <span class="hidden">the invitation of ${name}</span></button>`, '',
    )] : [],
  ];
}

/** The invitations that are still valid, the next to expire first. */
async function listInvitations(
  { account: { sellerId } }: PageRequest, { store, clock }: Portal,
): Promise<readonly StoredInvitation[]> {
  const invitations = await store.listInvitations(sellerId);
  return invitations.filter(({ expiresAt }) => expiresAt > clock())
    .toSorted((one, other) => one.expiresAt - other.expiresAt);
}

/** POST /portal/people/invitations/{invitation}/revoke: 303, 404 */
export const revokeInvitation: Submit = async (request, { store }) => {
  const { account: { sellerId }, by, parameters, link } = request;
  if (!await store.revokeInvitation(sellerId, parameters['invitation'] ?? '', by)) {
    throw new AppError('not_found', 'This invitation was used or revoked, or has expired.');
  }
  return redirect(link('/people?done=revoked'));
};

/** The account in the path. @throws AppError `not_found` */
async function getPerson(
  { account: { sellerId }, parameters }: PageRequest, { store }: Portal,
): Promise<Account> {
  const id = findWholeNumber(parameters['account_id'] ?? '');
  // The cast: a number that is no id is the one of no account.
  const person = id === undefined ? undefined
    : await store.findAccount({ sellerId, accountId: id as AccountId });
  if (person) return person;
  throw new AppError('not_found', 'Nobody in this shop has this account.');
}

function pathOf({ accountId }: Account): string {
  return `/people/${accountId}`;
}

/** GET /portal/people/{account_id}: 200, 404 */
export const showPerson: Show = async (request, portal) => {
  const person = await getPerson(request, portal);
  const { email, createdAt, seenAt } = person;
  const { format, link } = request;
  const path = link(pathOf(person));
  return renderPage(request, portal, {
    title: person.name,
    content: html`<div class="card">${facts([
      ['E-mail', email],
      ['Role', html`${ROLE_LABELS[person.role]}<br><a href="${path}/role">Change role</a>`],
      ['Name', html`<bdi>${person.name}</bdi><br><a href="${path}/name">Change name</a>`],
      ['Two-factor authentication', describeTwoFactor(person)],
      ['Joined', format.timeElement(createdAt)],
      ['Last seen', format.timeElement(seenAt)],
    ])}</div>
    ${postForm(request, `${path}/sign-out`, html`<button>Sign out everywhere</button>`, '')}
    <p><a class="button danger" href="${path}/remove">Remove from the shop</a></p>
    <p><a href="${link('/people')}">All people</a></p>`,
  });
};

/** POST /portal/people/{account_id}/sign-out: 303, 404 */
export const signOutPerson: Submit = async (request, portal) => {
  const person = await getPerson(request, portal);
  const event = { ...request.by, type: 'session_ended', subject: person.email } as const;
  await portal.store.endSessions(person, { allBut: 0 }, event);
  return redirect(request.link('/people?done=signed-out'));
};

/** GET /portal/people/two-factor: 200. POST: 303, 422, 429, 503 */
export const requirementForm = defineFormPage({
  fields: [CURRENT_PASSWORD],
  page: ({ account: { requiresTwoFactor } }) => ({
    title: requiresTwoFactor ? 'Make two-factor authentication optional'
      : 'Require two-factor authentication',
    cancel: '/people', submit: requiresTwoFactor ? 'Make optional' : 'Require',
    hidden: hiddenField('is_required', requiresTwoFactor ? 'no' : 'yes'),
    before: requiresTwoFactor ? html`<p>People may then sign in with a password alone.</p>`
      : html`<p>Everyone in the shop needs an authenticator app, or passkeys only. A person who has
        neither must set it up before anything else, also in browsers that are signed in.</p>`,
  }),
  read: (form) => form.get('is_required') === 'yes',
  async save(requiresTwoFactor, { account: { sellerId }, by, link }, { store }) {
    await store.setShopSettings(sellerId, { requiresTwoFactor }, by);
    return redirect(link(`/people?done=${requiresTwoFactor ? 'required' : 'optional'}`));
  },
});

const NAME_FIELD = {
  name: 'name', label: 'Name', isRequired: true, maxLength: ACTOR_LIMIT_CODE_POINTS,
  autocomplete: 'off', hint: 'Shown beside every change that this person makes.',
} as const satisfies Field;
const ROLE_FIELD: Field = {
  name: 'role', label: 'Role', control: 'radio', initial: 'editor',
  choices: ROLES.map((role) => ({
    value: role, label: html`<strong>${ROLE_LABELS[role]}</strong>: ${ROLE_MEANINGS[role]}`,
  })),
};

/** GET /portal/people/{account_id}/name: 200, 404. POST: 303, 404, 422 */
export const personNameForm = defineFormPage({
  fields: [NAME_FIELD],
  find: getPerson,
  page: ({ subject: person }) => ({
    title: 'Change name', cancel: pathOf(person), submit: 'Change name',
    fields: [{ ...NAME_FIELD, initial: person.name }],
    before: html`<p>Earlier changes keep the name
      <strong><bdi>${person.name}</bdi></strong>.</p>`,
  }),
  read: readName,
  save: (name, request, portal, { errors }) =>
    saveName(request.subject, name, request, portal, { errors, next: '/people?done=renamed' }),
});

/** GET /portal/account/name: 200. POST: 303, 422. For everyone, of themselves. */
export const ownNameForm = defineFormPage({
  fields: [{ ...NAME_FIELD, autocomplete: 'name', hint: 'Shown beside every change you make.' }],
  page: () => ({ title: 'Change name', cancel: '/account', submit: 'Change name' }),
  initial: ({ account: { name } }) => ({ name }),
  read: readName,
  save: (name, request, portal, { errors }) =>
    saveName(request.account, name, request, portal, { errors, next: '/account?done=name' }),
});

/** GET /portal/people/{account_id}/role: 200, 404. POST: 303, 403, 404, 409, 422, 429, 503 */
export const roleForm = defineFormPage<Role, Account>({
  fields: [ROLE_FIELD, CURRENT_PASSWORD],
  find: getPerson,
  page: ({ subject: person }) => ({
    title: `Change the role of ${person.name}`, cancel: pathOf(person), submit: 'Change role',
    fields: [{ ...ROLE_FIELD, initial: person.role }, CURRENT_PASSWORD],
    before: html`<p>The new role applies at once. ${warnOwner(person.role)}</p>`,
  }),
  read: (form, errors) => takeValue(errors, 'role', parseRole(form.get('role')), 'viewer'),
  async save(role, { subject, by, link }, { store }) {
    await store.setRole(subject, role, by);
    return redirect(link('/people?done=role'));
  },
});

/** GET /portal/people/{account_id}/remove: 200, 404. POST: 303, 403, 404, 409, 422, 429, 503 */
export const removalForm = defineFormPage({
  fields: [CURRENT_PASSWORD],
  find: getPerson,
  page(request) {
    const { subject: person } = request;
    const isSelf = isOwn(request, person);
    return {
      title: isSelf ? 'Leave the shop' : `Remove ${person.name}`, cancel: pathOf(person),
      submit: isSelf ? 'Leave the shop' : 'Remove', isDestructive: true,
      before: html`<p>${isSelf ? 'You are' : html`<bdi>${person.name}</bdi> (${person.email}) is`}
        signed out everywhere at once and cannot sign in again. Changes keep the name. ${
  warnOwner(person.role)}</p>`,
    };
  },
  async save(_, request, portal) {
    const { subject: person, by, link } = request;
    await portal.store.removeAccount(person, by);
    return isOwn(request, person) ? redirectSignedOut(request, portal)
      : redirect(link('/people?done=removed'));
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

/** GET /portal/people/new: 200. POST: 200, 403, 409, 422, 429, 503 */
export const inviteForm = defineFormPage({
  fields: [NAME_FIELD, ROLE_FIELD, CURRENT_PASSWORD],
  page: () => ({ title: 'Invite someone', cancel: '/people', submit: 'Create invitation' }),
  read: (form, errors) => ({
    name: readName(form, errors),
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
  request: PageRequest, portal: Portal, { name, role, expiresAt }: Invitation, code: string,
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
