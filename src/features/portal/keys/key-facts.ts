/** What pages show of an API key: its status, its use, and what it may do. Never its secret. */
import type { ApiKey } from '../../../domain/access/api-key.ts';
import { AppError } from '../../../domain/error.ts';
import { formatKeyId, type KeyId, parseKeyId } from '../../../domain/id.ts';
import { madeBy } from '../html/elements.ts';
import type { Format } from '../html/format.ts';
import { type Content, html, type Html } from '../html/html.ts';
import { readDayUsage, type Usage } from '../overview/request-stats.ts';
import type { PageRequest, Portal } from '../route.ts';

export type KeyContext = Awaited<ReturnType<typeof readKeyContext>>;

/** The details that the list and a key's pages show. */
export const KEY_FACTS: readonly (
  readonly [label: string, render: (key: ApiKey, context: KeyContext) => Content]
)[] = [
  ['Status', renderStatus],
  ['Last 24 hours', ({ id }, { format, usage }) => renderUsage(format, usage.get(id))],
  ['Last used', (key, { format }) => renderLastUse(format, key)],
  ['Permissions', ({ scopes }) => scopes.map((scope) => html`<code>${scope}</code> `)],
  ['Expires', ({ expiresAt }, { format }) =>
    expiresAt === undefined ? 'Never' : format.timeElement(expiresAt)],
  ['Requests per minute', ({ rateLimitPerMinute: own = Infinity }, { format, rateLimit }) => {
    const limit = Math.min(own, rateLimit || Infinity);
    return limit === Infinity ? 'No limit' : format.number(limit);
  }],
  ['Allowed addresses', (key, { rangesShown }) => renderRanges(key, rangesShown)],
  ['Created', ({ createdAt, createdBy }, { format }) =>
    madeBy(format.timeElement(createdAt), createdBy)],
];

/** With the usage of the last 24 hours. @param rangesShown Of the allowed addresses. */
export async function readKeyContext(
  { account: { sellerId }, format, link }: PageRequest, portal: Portal, rangesShown = Infinity,
) {
  const { byKey } = await readDayUsage(portal, sellerId);
  const { rateLimitPerMinute: rateLimit } = portal;
  return { format, link, now: portal.clock(), usage: byKey, rateLimit, rangesShown };
}

/** The path of a key's page. */
export function pathOf(key: Pick<ApiKey, 'sellerId' | 'id'>): string {
  return `/keys/${formatId(key)}`;
}

export function formatId({ sellerId, id }: Pick<ApiKey, 'sellerId' | 'id'>): string {
  return formatKeyId({ sellerId, keyId: id });
}

/** Undefined unless the text is one of this seller's key ids. */
export function findKeyId({ account }: PageRequest, text: string): KeyId | undefined {
  const reference = parseKeyId(text);
  return reference?.sellerId === account.sellerId ? reference.keyId : undefined;
}

/** The key in the path. @throws AppError `not_found`, also for a key of another seller */
export async function getKey(request: PageRequest, { store }: Portal): Promise<ApiKey> {
  const { sellerId } = request.account;
  const keyId = findKeyId(request, request.parameters['key_id'] ?? '');
  const key = keyId === undefined ? undefined : await store.findKey({ sellerId, keyId });
  if (key) return key;
  throw new AppError('not_found', 'You have no key with this id.');
}

export function renderLastUse(format: Format, { lastUsedAt, lastUsedAddress }: ApiKey): Content {
  if (lastUsedAt === undefined) return 'Never';
  return html`${format.timeElement(lastUsedAt)} from <code>${lastUsedAddress}</code>`;
}

export function isActive({ revokedAt, expiresAt }: ApiKey, now: number): boolean {
  return revokedAt === undefined && (expiresAt === undefined || expiresAt > now);
}

function renderUsage(format: Format, usage: Usage | undefined): Content {
  if (!usage) return 'No requests';
  const { requests, refusals } = usage;
  return html`${format.number(requests)} ${requests === 1 ? 'request' : 'requests'},
    ${refusals === 0 ? 'none' : format.number(refusals)} rejected`;
}

/** A rotated key shows when it ends, and links to the key that replaced it. */
function renderStatus(key: ApiKey, { format, link, now }: KeyContext): Html {
  const { sellerId, successorId, expiresAt } = key;
  const state = key.revokedAt !== undefined ? html`<span class="tag bad">Revoked</span>`
    : !isActive(key, now) ? html`<span class="tag low">Expired</span>`
    : successorId === undefined || expiresAt === undefined
      ? html`<span class="tag good">Active</span>`
      : html`<span class="tag low">Ends ${format.timeElement(expiresAt)}</span>`;
  return html`${state}${successorId !== undefined && html` <a class="small" href="${
    link(pathOf({ sellerId, id: successorId }))}">Replaced</a>`}`;
}

/** A range of one address is shown as that address. */
function renderRanges({ addressRanges }: ApiKey, limit: number): Content {
  if (addressRanges.length === 0) return 'Any';
  const more = addressRanges.length - limit;
  return html`${addressRanges.slice(0, limit).map((range) => html`
    <code>${range.replace(range.includes(':') ? /\/128$/ : /\/32$/, '')}</code>`)}${
  more > 0 && html` and ${more} more`}`;
}
