/** The list of a shop's API keys, and the page of one key with its actions. */
import { splitPage } from '../../../api/list.ts';
import { type ApiKey, maskApiKey } from '../../../domain/access/api-key.ts';
import { AppError } from '../../../domain/error.ts';
import { formatKeyId, type KeyId, parseKeyId } from '../../../domain/id.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { postForm, renderFields } from '../forms/fields.ts';
import { nonceField } from '../forms/form.ts';
import { overlapField } from '../forms/typed-values.ts';
import { card, facts, flashNotice, pager, table } from '../html/elements.ts';
import type { Format } from '../html/format.ts';
import { type Content, html, type Html } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import { PORTAL_PAGE_ROWS } from '../limits.ts';
import { readDayUsage, type Usage } from '../overview/request-stats.ts';
import type { PageRequest, Portal } from '../route.ts';

const DONE = new Map([['revoked', 'Key revoked. It no longer works.']]);
/** Address ranges in the list; the key's page shows all. */
const RANGES_SHOWN = 2;

interface Context {
  readonly format: Format;
  readonly now: number;
  /** Of the last 24 hours. */
  readonly usage: ReadonlyMap<KeyId, Usage>;
  readonly rangesShown: number;
}

/** The details that both the list and a key's page show. */
const FACTS: readonly (
  readonly [label: string, render: (key: ApiKey, context: Context) => Content]
)[] = [
  ['Status', (key, { now }) => renderStatus(key, now)],
  ['Last 24 hours', ({ id }, { format, usage }) => renderUsage(format, usage.get(id))],
  ['Last used', (key, { format }) => renderLastUse(format, key)],
  ['Permissions', ({ scopes }) => scopes.map((scope) => html`<code>${scope}</code> `)],
  ['Expires', ({ expiresAt }, { format }) =>
    expiresAt === undefined ? 'Never' : format.timeElement(expiresAt)],
  ['Allowed addresses', (key, { rangesShown }) => renderRanges(key, rangesShown)],
  ['Created', ({ createdAt }, { format }) => format.timeElement(createdAt)],
];

/** GET /portal/keys: 200 */
export async function showKeys(request: PageRequest, portal: Portal): Promise<Reply> {
  const { account: { sellerId }, link } = request;
  const after = findKeyId(request, request.query.get('after') ?? '');
  const found = await portal.store.listKeys(
    sellerId, { after, limit: PORTAL_PAGE_ROWS + 1 }, true,
  );
  const { page: keys, last } = splitPage(found, PORTAL_PAGE_ROWS);
  const context = await readContext(request, portal, RANGES_SHOWN);
  return renderPage(request, portal, {
    title: 'API keys',
    content: html`${flashNotice(request, DONE)}
      <p>Give each program that calls the API its own key, so you can see what it does and revoke it
        on its own.</p>
      <p><a class="button primary" href="${link('/keys/new')}">Create key</a></p>
      ${table({
    caption: 'API keys',
    columns: ['Key', ...FACTS.map(([label]) => label)],
    rows: keys.map((key) => [
      html`<a href="${link(pathOf(key))}">${key.name}</a><br>
        <code class="quiet small">${maskApiKey(key)}</code>`,
      ...FACTS.map(([, render]) => render(key, context)),
    ]),
    empty: html`<p>No API keys. Create one to call the API.</p>`,
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
  const { revokedAt } = key;
  const context = await readContext(request, portal, Infinity);
  return renderPage(request, portal, {
    title: `API key: ${key.name}`,
    content: html`<div class="card">${facts([
      ['Key', html`<code>${maskApiKey(key)}</code>`],
      ['ID', html`<code>${formatId(key)}</code>`],
      ...FACTS.map(([label, render]) => [label, render(key, context)] as const),
      ...revokedAt === undefined ? [] : [['Revoked', format.timeElement(revokedAt)] as const],
    ])}</div>
    ${isActive(key, context.now) ? renderActions(request, key)
    : html`<p>This key no longer works. <a href="${link('/keys/new')}">Create a new key</a>.</p>`}
    <p><a href="${link('/keys')}">All API keys</a></p>`,
  });
}

async function readContext(
  { account: { sellerId }, format }: PageRequest, portal: Portal, rangesShown: number,
): Promise<Context> {
  const { byKey } = await readDayUsage(portal, sellerId);
  return { format, now: portal.clock(), usage: byKey, rangesShown };
}

/** The key in the path. @throws AppError `not_found`, also for a key of another seller */
export async function getKey(request: PageRequest, { store }: Portal): Promise<ApiKey> {
  const { sellerId } = request.account;
  const keyId = findKeyId(request, request.parameters['key_id'] ?? '');
  const key = keyId === undefined ? undefined : await store.findKey({ sellerId, keyId });
  if (key) return key;
  throw new AppError('not_found', 'You have no key with this id.');
}

/** The path of a key's page. */
export function pathOf(key: ApiKey): string {
  return `/keys/${formatId(key)}`;
}

export function renderLastUse(
  format: Format, { lastUsedAt, lastUsedAddress }: ApiKey,
): Content {
  if (lastUsedAt === undefined) return 'Never';
  return html`${format.timeElement(lastUsedAt)} from <code>${lastUsedAddress}</code>`;
}

function isActive({ revokedAt, expiresAt }: ApiKey, now: number): boolean {
  return revokedAt === undefined && (expiresAt === undefined || expiresAt > now);
}

function renderUsage(format: Format, usage: Usage | undefined): Content {
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

function renderRanges({ addressRanges }: ApiKey, shown: number): Content {
  if (addressRanges.length === 0) return 'Any';
  const more = addressRanges.length - shown;
  return html`${addressRanges.slice(0, shown).map((range) => html`
    <code>${formatRange(range)}</code>`)}${more > 0 && html` and ${more} more`}`;
}

/** A range of one address is shown as that address. */
function formatRange(range: string): string {
  return range.replace(range.includes(':') ? /\/128$/ : /\/32$/, '');
}

function renderActions(request: PageRequest, key: ApiKey): Html {
  const path = request.link(pathOf(key));
  return html`<div class="columns">
    ${card('rotate', 'Rotate', html`<p>Creates a new key with the same permissions. The old key
      keeps working for the time you choose, so you can replace it in your programs.</p>
      ${postForm(request, `${path}/rotate`, html`${nonceField()}
        ${renderFields([overlapField('Keep the old key valid for')])}
        <button>Rotate key</button>`)}`)}
    ${card('revoke', 'Revoke', html`<p>Requests with this key are rejected immediately. This cannot
      be undone.</p>
      <p><a class="button danger" href="${path}/revoke">Revoke key</a></p>`)}
  </div>`;
}

function formatId({ sellerId, id }: ApiKey): string {
  return formatKeyId({ sellerId, keyId: id });
}

/** Undefined unless the text is one of this seller's key ids. */
function findKeyId({ account }: PageRequest, text: string): KeyId | undefined {
  const reference = parseKeyId(text);
  return reference?.sellerId === account.sellerId ? reference.keyId : undefined;
}
