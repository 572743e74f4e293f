/** The activity: what happened to the account, its keys and its webhooks, the newest first. */
import { AUDIT_TYPES, type AuditEvent, type AuditType } from '../../../domain/access/audit.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { selectField } from '../forms/fields.ts';
import { findWholeNumber } from '../forms/typed-values.ts';
import { describeBrowser } from '../html/browser.ts';
import { pager, type Row, table } from '../html/elements.ts';
import { html, type Html } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import { ACTIVITY_PAGE_SIZE } from '../limits.ts';
import type { PageRequest, Portal } from '../route.ts';

const WORDS: Readonly<Record<AuditType, string>> = {
  account_created: 'The account was opened',
  account_removed: 'The account was closed for another one',
  signed_in: 'Signed in',
  sign_in_refused: 'A sign-in was refused',
  signed_out: 'Signed out',
  session_ended: 'A browser was signed out from elsewhere',
  email_changed: 'The e-mail was changed',
  password_changed: 'The password was changed',
  password_reset: 'The password was reset',
  totp_enabled: 'One-time codes were switched on',
  totp_disabled: 'One-time codes were switched off',
  totp_reset: 'One-time codes were reset',
  recovery_codes_made: 'New recovery codes were made',
  recovery_code_used: 'A recovery code was used',
  settings_changed: 'The settings were changed',
  invitation_created: 'An invitation was made',
  key_created: 'An API key was created',
  key_rotated: 'An API key was rotated',
  key_revoked: 'An API key was revoked',
  webhook_created: 'A webhook was created',
  webhook_changed: 'A webhook was changed',
  webhook_secret_rotated: 'The secret of a webhook was rotated',
  webhook_deleted: 'A webhook was deleted',
  seller_disabled: 'The shop was disabled',
  seller_enabled: 'The shop was enabled',
};

/** Of these the subject is what a browser said of itself, or how many there were. */
const OF_BROWSERS: readonly AuditType[] = ['signed_in', 'signed_out', 'session_ended'];

/** GET /portal/activity: 200 */
export async function showActivity(request: PageRequest, portal: Portal): Promise<Reply> {
  const { query, account: { sellerId } } = request;
  const type = AUDIT_TYPES.find((known) => known === query.get('type'));
  const before = findWholeNumber(query.get('before') ?? '');
  const found = await portal.store.listAuditEvents(sellerId, {
    type, before, limit: ACTIVITY_PAGE_SIZE + 1,
  });
  const events = found.slice(0, ACTIVITY_PAGE_SIZE);
  const last = found.length > events.length ? events.at(-1)?.n : undefined;
  const link = (from?: number): string => request.link(`/activity${describeQuery(type, from)}`);
  return renderPage(request, portal, {
    title: 'Activity',
    content: html`${renderFilter(request, type)}
      ${table({
    caption: 'What happened to the account, its keys and its webhooks',
    columns: ['What', 'When', 'From', 'Details'],
    rows: events.map((event) => renderEvent(request, event)),
    empty: html`<p>${type === undefined ? 'Nothing happened before that.'
      : `Nothing of this kind happened${before === undefined ? '' : ' before that'}.`}
        <a href="${request.link('/activity')}">Show everything</a></p>`,
  })}
      ${pager('Pages of the activity', before === undefined ? undefined : link(),
    last === undefined ? undefined : link(last))}`,
  });
}

function describeQuery(type: AuditType | undefined, before: number | undefined): string {
  const query = new URLSearchParams({
    ...(type && { type }), ...(before !== undefined && { before: String(before) }),
  });
  return query.size === 0 ? '' : `?${query}`;
}

function renderFilter({ link }: PageRequest, type: AuditType | undefined): Html {
  const choices = AUDIT_TYPES.map((value) => ({ value, label: WORDS[value] }));
  return html`<form method="get" action="${link('/activity')}" class="row">
    ${selectField({
    name: 'type', label: 'Kind', value: type ?? '',
    choices: [{ value: '', label: 'Everything' }, ...choices],
  })}
    <button>Show</button>
  </form>`;
}

function renderEvent({ format }: PageRequest, { type, at, address, subject }: AuditEvent): Row {
  const isBrowser = OF_BROWSERS.includes(type) && !/^\d+ others?$/.test(subject);
  return [
    WORDS[type], format.timeElement(at),
    address === '' ? 'this machine' : html`<code>${address}</code>`,
    isBrowser ? describeBrowser(subject) : subject,
  ];
}
