/** The audit log of the shop's people, keys and webhooks, newest first. */
import { AUDIT_TYPES, type AuditEvent, type AuditType } from '../../../domain/access/audit.ts';
import { capitalize } from '../../../domain/text.ts';
import type { Field } from '../forms/fields.ts';
import { filterState, readFilters, renderFilters } from '../forms/filter.ts';
import { countList, readNewestFirst, renderPager } from '../forms/paging.ts';
import { describeBrowser } from '../html/browser.ts';
import { type Row, table } from '../html/elements.ts';
import { html } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import { ACTIVITY_PAGE_SIZE } from '../limits.ts';
import type { PageRequest, Show } from '../route.ts';

/** Labels that are not the name of the type. */
const LABELS: Partial<Readonly<Record<AuditType, string>>> = {
  signed_in_with_passkey: 'Signed in with a passkey',
  sign_in_refused: 'Sign-in failed',
  session_ended: 'Signed out from another browser',
  email_changed: 'E-mail changed',
  totp_enabled: 'Two-factor authentication turned on',
  totp_disabled: 'Two-factor authentication turned off',
  totp_reset: 'Two-factor authentication reset',
  recovery_codes_made: 'Recovery codes generated',
  password_sign_in_disabled: 'Password sign-in turned off',
  password_sign_in_enabled: 'Password sign-in turned on',
  key_created: 'API key created',
  key_rotated: 'API key rotated',
  key_revoked: 'API key revoked',
  seller_changed: 'Shop changed',
  seller_disabled: 'Shop disabled',
  seller_enabled: 'Shop enabled',
  seller_deleted: 'Shop deleted',
};

const FIELDS: readonly Field[] = [{
  name: 'type', label: 'Event type', control: 'select',
  choices: [
    { value: '', label: 'All events' },
    ...AUDIT_TYPES.map((type) => ({ value: type, label: labelOf(type) })),
  ],
}];

/** The subject of these events is a User-Agent or a number of browsers. */
const BROWSER_TYPES: readonly AuditType[] = ['signed_in', 'signed_out', 'session_ended'];

/** GET /portal/activity: 200, 400 */
export const showActivity: Show = async (request, portal) => {
  const { query, link, account: { sellerId } } = request;
  const { store } = portal;
  const form = readFilters(query, FIELDS);
  const type = AUDIT_TYPES.find((candidate) => candidate === form.get('type'));
  const errors = new Map<string, string>();
  const page = await readNewestFirst<AuditEvent, number>(request, portal, errors, {
    scope: `activity ${sellerId} ${type}`, limit: ACTIVITY_PAGE_SIZE, keyOf: ({ n }) => n,
    read: (range) => store.listAuditEvents(sellerId, { ...range, type }),
  });
  const state = filterState(form, errors);
  const total = await countList(page, () => store.countAuditEvents(sellerId, type));
  return renderPage(request, portal, {
    title: 'Activity',
    state, fields: FIELDS,
    content: html`${renderFilters(link('/activity'), FIELDS, state)}
      ${table({
    caption: 'Activity of people, keys and webhooks',
    columns: ['Event', 'By', 'Time', 'Address', 'Details'],
    rows: page.rows.map((event) => renderEvent(request, event)),
    empty: html`<p>No ${!page.isFirst && 'earlier '}activity${
      type !== undefined && ' of this type'}.
        <a href="${link('/activity')}">Show all activity</a></p>`,
  })}
      ${renderPager(request, { path: '/activity', filters: form, noun: 'events', page, total })}`,
  });
};

function renderEvent(
  { format }: PageRequest, { type, at, address, subject, actorName }: AuditEvent,
): Row {
  const isBrowser = BROWSER_TYPES.includes(type) && !/^\d+ others?$/.test(subject);
  return [
    labelOf(type), actorName === undefined ? '–' : html`<bdi>${actorName}</bdi>`,
    format.fullTimeElement(at),
    address === '' ? 'this machine' : html`<code>${address}</code>`,
    isBrowser ? describeBrowser(subject) : describeSubject(type, subject),
  ];
}

function labelOf(type: AuditType): string {
  return LABELS[type] ?? capitalize(type.replaceAll('_', ' '));
}

function describeSubject(type: AuditType, subject: string): string {
  if (type !== 'signed_in_with_passkey') return subject;
  const [, name = '', userAgent = ''] = /^(.*?) · (.*)$/.exec(subject) ?? [];
  return `${name}, ${describeBrowser(userAgent)}`;
}
