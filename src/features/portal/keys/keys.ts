/** The API keys of a shop, and the page of one key, where it is rotated and revoked. */
import type { ApiKey } from '../../../domain/access/api-key.ts';
import { AppError } from '../../../domain/error.ts';
import { formatKeyId, type KeyId, parseKeyId } from '../../../domain/id.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { postForm, renderFields } from '../forms/fields.ts';
import { nonceField } from '../forms/form.ts';
import { overlapField } from '../forms/typed-values.ts';
import { facts, flashNotice, pager, type Row, table } from '../html/elements.ts';
import { type Content, html, type Html } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import { PORTAL_PAGE_ROWS } from '../limits.ts';
import { readDayUsage, type Usage } from '../overview/request-stats.ts';
import type { PageRequest, Portal } from '../route.ts';

const DONE = new Map([['revoked', 'Key revoked. Requests with it are now rejected.']]);
/** Address ranges in the list; the page of the key shows all. */
const RANGES_SHOWN = 2;
const COLUMNS = [
  'Key', 'Status', 'Last 24 hours', 'Last used', 'Permissions', 'Expires', 'Allowed addresses',
  'Created',
];

/** GET /portal/keys: 200 */
export async function showKeys(request: PageRequest, portal: Portal): Promise<Reply> {
  const { account: { sellerId }, link } = request;
  const after = findKeyId(request, request.query.get('after') ?? '');
  const found = await portal.store.listKeys(
    sellerId, { after, limit: PORTAL_PAGE_ROWS + 1 }, true,
  );
  const { byKey: usage } = await readDayUsage(portal, sellerId);
  const keys = found.slice(0, PORTAL_PAGE_ROWS);
  const last = found.length > keys.length ? keys.at(-1) : undefined;
  return renderPage(request, portal, {
    title: 'API keys',
    content: html`${flashNotice(request, DONE)}
      <p>Give each program that calls the API its own key. You then see what it does, and can revoke
        it on its own.</p>
      <p><a class="button main" href="${link('/keys/new')}">Create key</a></p>
      ${table({
    caption: 'API keys',
    columns: COLUMNS,
    rows: keys.map((key) => renderRow(request, key, portal.clock(), usage.get(key.id))),
    empty: html`<p>No API keys here. Create one to call the API.</p>`,
  })}
      ${pager(
    'Pages of keys', after === undefined ? undefined : link('/keys'),
    last && link(`/keys?after=${formatId(last)}`),
  )}`,
  });
}

/** GET /portal/keys/{key_id}: 200, 404 */
export async function showKey(request: PageRequest, portal: Portal): Promise<Reply> {
  const key = await getKey(request, portal);
  const { format, link } = request;
  const { byKey: usage } = await readDayUsage(portal, key.sellerId);
  const now = portal.clock();
  const ranges = key.addressRanges.map((range) => html`<code>${formatRange(range)}</code><br>`);
  return renderPage(request, portal, {
    title: `API key: ${key.name}`,
    content: html`<div class="card">${facts([
      ['ID', html`<code>${formatId(key)}</code>`],
      ['Status', renderStatus(key, now)],
      ['Permissions', renderScopes(key)],
      ['Allowed addresses', ranges.length === 0 ? 'Any' : ranges],
      ['Created', format.timeElement(key.createdAt)],
      ['Expires', key.expiresAt === undefined ? 'Never' : format.timeElement(key.expiresAt)],
      ...key.revokedAt === undefined ? [] : [
        ['Revoked', format.timeElement(key.revokedAt)] as const,
      ],
      ['Last used', renderLastUse(request, key)],
      ['Last 24 hours', renderUsage(request, usage.get(key.id))],
    ])}</div>
    ${isActive(key, now) ? renderActions(request, key) : html`<p>This key no longer works.
        <a href="${link('/keys/new')}">Create a new key</a>.</p>`}
    <p><a href="${link('/keys')}">All API keys</a></p>`,
  });
}

/** The key in the path. @throws AppError `not_found`, also for a key of another seller */
export async function getKey(request: PageRequest, { store }: Portal): Promise<ApiKey> {
  const { sellerId } = request.account;
  const keyId = findKeyId(request, request.parameters['key_id'] ?? '');
  const key = keyId === undefined ? undefined : await store.findKey({ sellerId, keyId });
  if (key) return key;
  throw new AppError('not_found', 'You have no key with this id.');
}

/** The path of the page of a key. */
export function pathOf(key: ApiKey): string {
  return `/keys/${formatId(key)}`;
}

export function renderLastUse(
  { format }: PageRequest, { lastUsedAt, lastUsedAddress }: ApiKey,
): Content {
  if (lastUsedAt === undefined) return 'Never';
  return html`${format.timeElement(lastUsedAt)} from <code>${lastUsedAddress}</code>`;
}

function isActive({ revokedAt, expiresAt }: ApiKey, now: number): boolean {
  return revokedAt === undefined && (expiresAt === undefined || expiresAt > now);
}

function renderRow(
  request: PageRequest, key: ApiKey, now: number, usage: Usage | undefined,
): Row {
  const { format, link } = request;
  return [
    html`<a href="${link(pathOf(key))}">${key.name}</a><br>
      <span class="quiet small">${formatId(key)}</span>`,
    renderStatus(key, now),
    renderUsage(request, usage),
    renderLastUse(request, key),
    renderScopes(key),
    key.expiresAt === undefined ? 'Never' : format.timeElement(key.expiresAt),
    renderRanges(key),
    format.timeElement(key.createdAt),
  ];
}

function renderUsage({ format }: PageRequest, usage: Usage | undefined): Content {
  if (!usage) return 'No requests';
  const { requests, refusals } = usage;
  return html`${format.number(requests)} ${requests === 1 ? 'request' : 'requests'},
    ${refusals === 0 ? 'none' : format.number(refusals)} rejected`;
}

function renderStatus(key: ApiKey, now: number): Html {
  if (key.revokedAt !== undefined) return html`<span class="tag bad">Revoked</span>`;
  if (isActive(key, now)) return html`<span class="tag good">Active</span>`;
  return html`<span class="tag low">Expired</span>`;
}

function renderScopes({ scopes }: ApiKey): Html {
  return html`${scopes.map((scope) => html`<code>${scope}</code> `)}`;
}

function renderRanges({ addressRanges }: ApiKey): Content {
  if (addressRanges.length === 0) return 'Any';
  const more = addressRanges.length - RANGES_SHOWN;
  return html`${addressRanges.slice(0, RANGES_SHOWN).map((range) => html`
    <code>${formatRange(range)}</code>`)}${more > 0 && html` and ${more} more`}`;
}

/** A range of one address is shown as that address. */
function formatRange(range: string): string {
  return range.replace(range.includes(':') ? /\/128$/ : /\/32$/, '');
}

function renderActions(request: PageRequest, key: ApiKey): Html {
  const path = request.link(pathOf(key));
  return html`<div class="columns">
    <section class="card" aria-labelledby="rotate">
      <h2 id="rotate">Rotate</h2>
      <p>Creates a new key with the same permissions. The old key keeps working for a while, so that
        you can replace it in your programs.</p>
      ${postForm(request, `${path}/rotate`, html`${nonceField()}
        ${renderFields([overlapField('Keep the old key valid for')])}
        <button>Rotate key</button>`)}
    </section>
    <section class="card" aria-labelledby="revoke">
      <h2 id="revoke">Revoke</h2>
      <p>Requests with this key are rejected immediately. This cannot be undone.</p>
      <p><a class="button" href="${path}/revoke">Revoke key</a></p>
    </section>
  </div>`;
}

function formatId({ sellerId, id }: ApiKey): string {
  return formatKeyId({ sellerId, keyId: id });
}

/** Undefined for a text that is no key id of this seller. */
function findKeyId({ account }: PageRequest, text: string): KeyId | undefined {
  const reference = parseKeyId(text);
  return reference?.sellerId === account.sellerId ? reference.keyId : undefined;
}
