/** The people of a shop and those who are invited. Everyone sees the list; owners manage it. */
import type { Account } from '../../../domain/access/account.ts';
import { AppError } from '../../../domain/error.ts';
import type { AccountId } from '../../../domain/id.ts';
import type { Reply } from '../../../http/response/reply.ts';
import type { StoredInvitation } from '../../../store/account-store.ts';
import { postForm } from '../forms/fields.ts';
import { findWholeNumber } from '../forms/typed-values.ts';
import { card, facts, flashNotice, type Row, table } from '../html/elements.ts';
import { html } from '../html/html.ts';
import { redirect, renderPage } from '../html/page.ts';
import type { PageRequest, Portal } from '../route.ts';
import { renderRoles, ROLE_LABELS } from './roles.ts';

const DONE = new Map([
  ['renamed', 'Name changed.'], ['role', 'Role changed.'], ['removed', 'Account removed.'],
  ['revoked', 'Invitation revoked. Its link no longer works.'],
]);

/** GET /portal/people: 200 */
export async function showPeople(request: PageRequest, portal: Portal): Promise<Reply> {
  const { account: { sellerId }, link } = request;
  const people = await portal.store.listAccounts(sellerId);
  const invitations = await listInvitations(request, portal);
  const isOwner = request.may('owner');
  return renderPage(request, portal, {
    title: 'People',
    content: html`${flashNotice(request, DONE)}
      ${isOwner && html`<p>
        <a class="button primary" href="${link('/people/new')}">Invite someone</a></p>`}
      ${table({
    caption: 'People of this shop',
    columns: ['Name', 'E-mail', 'Role', 'Two-factor authentication', 'Last seen',
      ...isOwner ? ['Action'] : []],
    rows: [
      ...people.map((person) => renderPerson(request, person)),
      ...invitations.map((invitation) => renderInvitation(request, invitation)),
    ],
  })}
      ${card('roles', 'Roles', renderRoles())}`,
  });
}

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
export async function listInvitations(
  { account: { sellerId } }: PageRequest, { store, clock }: Portal,
): Promise<readonly StoredInvitation[]> {
  const stored = await store.listInvitations(sellerId);
  return stored.filter(({ expiresAt }) => expiresAt > clock())
    .toSorted((one, other) => one.expiresAt - other.expiresAt);
}

/** POST /portal/people/invitations/{invitation}/revoke: 303, 404 */
export async function revokeInvitation(
  { account: { sellerId }, by, parameters, link }: PageRequest, { store }: Portal,
): Promise<Reply> {
  if (!await store.revokeInvitation(sellerId, parameters['invitation'] ?? '', by)) {
    throw new AppError('not_found', 'This invitation was used or revoked, or has expired.');
  }
  return redirect(link('/people?done=revoked'));
}

/** The account in the path. @throws AppError `not_found` */
export async function getPerson(
  { account: { sellerId }, parameters }: PageRequest, { store }: Portal,
): Promise<Account> {
  const id = findWholeNumber(parameters['account_id'] ?? '');
  // The cast: a number that is no id is the one of no account.
  const person = id === undefined ? undefined
    : await store.findAccount({ sellerId, accountId: id as AccountId });
  if (person) return person;
  throw new AppError('not_found', 'Nobody in this shop has this account.');
}

export function pathOf({ accountId }: Account): string {
  return `/people/${accountId}`;
}

/** GET /portal/people/{account_id}: 200, 404 */
export async function showPerson(request: PageRequest, portal: Portal): Promise<Reply> {
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
    <p><a class="button danger" href="${path}/remove">Remove from the shop</a></p>
    <p><a href="${link('/people')}">All people</a></p>`,
  });
}
