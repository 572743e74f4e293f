/** The API keys of a shop, and the page of one, from which it is rotated or revoked. */
import type { ApiKey } from '../../../domain/access/api-key.ts';
import { AppError } from '../../../domain/error.ts';
import { formatKeyId, type KeyId, parseKeyId } from '../../../domain/id.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { postForm, selectField } from '../forms/fields.ts';
import { nonceField } from '../forms/form.ts';
import { OVERLAPS } from '../forms/typed-values.ts';
import { facts, flashNotice, pager, type Row, table } from '../html/elements.ts';
import { type Content, html, type Html } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import { PORTAL_PAGE_ROWS } from '../limits.ts';
import { readDayUsage, type Usage } from '../overview/request-stats.ts';
import type { PageRequest, Portal } from '../route.ts';

const DONE = new Map([
  ['revoked', 'The key is revoked: whatever is sent with it is refused.'],
]);
/** Ranges that the list names; the page of the key names them all. */
const RANGES_SHOWN = 2;
const COLUMNS = [
  'Key', 'State', 'Last 24 hours', 'Last use', 'May do', 'Expires', 'From', 'Created',
];

/** GET /portal/keys: 200 */
export async function showKeys(request: PageRequest, portal: Portal): Promise<Reply> {
  const after = readKeyId(request, request.query.get('after') ?? '');
  const found = await portal.store.listKeys(
    request.account.sellerId, { after, limit: PORTAL_PAGE_ROWS + 1 }, true,
  );
  const { byKey: usage } = await readDayUsage(portal, request.account.sellerId);
  const keys = found.slice(0, PORTAL_PAGE_ROWS);
  const last = found.length > keys.length ? keys.at(-1) : undefined;
  const make = html`<a class="button main" href="${request.link('/keys/new')}">New key</a>`;
  return renderPage(request, portal, {
    title: 'API keys',
    content: html`${flashNotice(request, DONE)}
      <p>Each program that calls the API should have a key of its own: then you see what it does,
        and can end it alone.</p>
      <p>${make}</p>
      ${table({
    caption: 'API keys',
    columns: COLUMNS,
    rows: keys.map((key) => renderRow(request, key, portal.clock(), usage.get(key.id))),
    empty: html`<p>There is no key here. Make one to call the API.</p>`,
  })}
      ${pager(
    'Pages of keys', after === undefined ? undefined : request.link('/keys'),
    last && request.link(`/keys?after=${formatId(last)}`),
  )}`,
  });
}

/** GET /portal/keys/{key_id}: 200, 404 */
export async function showKey(request: PageRequest, portal: Portal): Promise<Reply> {
  const key = await getKey(request, portal);
  const { format } = request;
  const { byKey: usage } = await readDayUsage(portal, key.sellerId);
  const now = portal.clock();
  return renderPage(request, portal, {
    title: `Key: ${key.name}`,
    content: html`<div class="card">${facts([
      ['Id', html`<code>${formatId(key)}</code>`],
      ['State', renderState(key, now)],
      ['May do', renderScopes(key)],
      ['May be used from', key.addressRanges.length === 0 ? 'anywhere'
        : html`${key.addressRanges.map((range) => html`<code>${formatRange(range)}</code><br>`)}`],
      ['Created', format.timeElement(key.createdAt)],
      ['Expires', key.expiresAt === undefined ? 'never' : format.timeElement(key.expiresAt)],
      ...key.revokedAt === undefined ? [] : [
        ['Revoked', format.timeElement(key.revokedAt)] as const,
      ],
      ['Last use', renderUse(request, key)],
      ['Last 24 hours', renderUsage(request, usage.get(key.id))],
    ])}</div>
    ${isLive(key, now) ? renderActions(request, key)
    : html`<p>Nothing can be done with it any more.
        <a href="${request.link('/keys/new')}">Make a new key</a>.</p>`}
    <p><a href="${request.link('/keys')}">All keys</a></p>`,
  });
}

/** The key that the path names. @throws AppError `not_found`, alike whoever else's it is */
export async function getKey(request: PageRequest, { store }: Portal): Promise<ApiKey> {
  const { sellerId } = request.account;
  const keyId = readKeyId(request, request.parameters['key_id'] ?? '');
  const key = keyId === undefined ? undefined : await store.findKey({ sellerId, keyId });
  if (key) return key;
  throw new AppError('not_found', 'You have no key with this id.');
}

/** The path of the page of a key. */
export function pathOf(key: ApiKey): string {
  return `/keys/${formatId(key)}`;
}

function isLive({ revokedAt, expiresAt }: ApiKey, now: number): boolean {
  return revokedAt === undefined && (expiresAt === undefined || expiresAt > now);
}

export function renderUse(
  { format }: PageRequest, { lastUsedAt, lastUsedAddress }: ApiKey,
): Content {
  if (lastUsedAt === undefined) return 'never';
  return html`${format.timeElement(lastUsedAt)} from <code>${lastUsedAddress}</code>`;
}

function renderRow(
  request: PageRequest, key: ApiKey, now: number, usage: Usage | undefined,
): Row {
  const { format, link } = request;
  return [
    html`<a href="${link(pathOf(key))}">${key.name}</a><br>
      <span class="quiet small">${formatId(key)}</span>`,
    renderState(key, now),
    renderUsage(request, usage),
    renderUse(request, key),
    renderScopes(key),
    key.expiresAt === undefined ? 'never' : format.timeElement(key.expiresAt),
    renderRanges(key),
    format.timeElement(key.createdAt),
  ];
}

function renderUsage({ format }: PageRequest, usage: Usage | undefined): Content {
  if (!usage) return 'no requests';
  const { requests, refusals } = usage;
  return html`${format.number(requests)} ${requests === 1 ? 'request' : 'requests'},
    ${refusals === 0 ? 'none' : format.number(refusals)} refused`;
}

function renderState(key: ApiKey, now: number): Html {
  if (key.revokedAt !== undefined) return html`<span class="tag bad">revoked</span>`;
  if (isLive(key, now)) return html`<span class="tag good">live</span>`;
  return html`<span class="tag low">expired</span>`;
}

function renderScopes({ scopes }: ApiKey): Html {
  return html`${scopes.map((scope) => html`<code>${scope}</code> `)}`;
}

function renderRanges({ addressRanges }: ApiKey): Content {
  if (addressRanges.length === 0) return html`<span class="nowrap">anywhere</span>`;
  const more = addressRanges.length - RANGES_SHOWN;
  return html`${addressRanges.slice(0, RANGES_SHOWN).map((range) => html`
    <code>${formatRange(range)}</code>`)}${more > 0 && html` and ${more} more`}`;
}

/** A range of one address is that address. */
function formatRange(range: string): string {
  return range.replace(range.includes(':') ? /\/128$/ : /\/32$/, '');
}

function renderActions(request: PageRequest, key: ApiKey): Html {
  const { link } = request;
  return html`<div class="columns">
    <section class="card" aria-labelledby="rotate">
      <h2 id="rotate">Rotate</h2>
      <p>You get a new key that may do the same. This one goes on for a while, so that you have the
        time to put the new one in its place.</p>
      ${postForm(request, link(`${pathOf(key)}/rotate`), html`${nonceField()}
        ${selectField({
    name: 'overlap', label: 'This key goes on for', value: '24h', choices: OVERLAPS,
  })}
        <button>Rotate</button>`)}
    </section>
    <section class="card" aria-labelledby="revoke">
      <h2 id="revoke">Revoke</h2>
      <p>It ends at once and for good: whatever is sent with it is refused.</p>
      <p><a class="button" href="${link(`${pathOf(key)}/revoke`)}">Revoke …</a></p>
    </section>
  </div>`;
}

function formatId({ sellerId, id }: ApiKey): string {
  return formatKeyId({ sellerId, keyId: id });
}

/** Undefined for a text that is no id of a key of this shop. */
function readKeyId({ account }: PageRequest, text: string): KeyId | undefined {
  const reference = parseKeyId(text);
  return reference?.sellerId === account.sellerId ? reference.keyId : undefined;
}
