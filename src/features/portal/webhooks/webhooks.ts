/**
 * The list of a shop's webhooks, lookups for the other webhook pages, webhooks that need attention
 * for the overview, and those that match a search, by URL, description and id. Only owners see
 * which: their URLs may contain secrets.
 */
import { formatWebhookId, parseWebhookId, type WebhookReference } from '../../../domain/id.ts';
import { WEBHOOKS_PER_SELLER_LIMIT } from '../../../domain/limits.ts';
import { needsAttention } from '../../../domain/webhooks/webhook-changes.ts';
import {
  type Webhook, WEBHOOK_DELIVERIES, type WebhookDelivery,
} from '../../../domain/webhooks/webhook.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { hasNextChanges } from '../../webhooks/message.ts';
import { getOwnWebhook, readReference, webhookService } from '../../webhooks/routes.ts';
import { WEBHOOK_TYPE_CHOICES } from '../forms/change-types.ts';
import type { Choice } from '../forms/fields.ts';
import { flashNotice, type Row, table } from '../html/elements.ts';
import type { Format } from '../html/format.ts';
import { type Content, html, type Html, shorten } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import { WEBHOOK_BANNER_ATTEMPTS, WEBHOOK_BANNER_ROWS } from '../limits.ts';
import type { Finder, PageRequest, Portal, SearchResult, Show } from '../route.ts';
import { cut, matcherOf } from '../search/find-matches.ts';

/** Limit on a URL, a description or an outcome in lists and titles. */
export const WEBHOOK_TEXT_BYTES = 150;

export const DELIVERY_LABELS: Readonly<Record<WebhookDelivery, string>> = {
  batch: 'Up to 100 changes in a message', single: 'One change in a message',
};

export const DELIVERY_CHOICES: readonly Choice[] =
  WEBHOOK_DELIVERIES.map((value) => ({ value, label: DELIVERY_LABELS[value] }));

const FLASH = new Map([
  ['deleted', 'Webhook deleted. Messages already in flight may still arrive.'],
]);

/** GET /portal/webhooks: 200 */
export const showWebhooks: Show = async (request, portal) => {
  const webhooks = await listWebhooks(request, portal);
  if (!webhooks) return renderDisabled(request, portal);
  return renderPage(request, portal, {
    title: 'Webhooks',
    content: html`${flashNotice(request, FLASH)}
      <p>The server sends every catalogue change to these URLs, in order, and retries until it is
        delivered.</p>
      <p><a class="button primary" href="${request.link('/webhooks/new')}">New webhook</a></p>
      ${table({
    caption: 'Webhooks',
    columns: ['URL', 'Status', 'Events', 'Delivery', 'Failing since'],
    rows: webhooks.map((webhook) => renderRow(request, webhook)),
    empty: html`<p>No webhooks yet. <a href="${request.link('/webhooks/new')}">Create a webhook</a>
      to notify your own server of each change as it happens.</p>`,
  })}`,
  });
};

/** All of the shop; undefined if webhooks are disabled. */
async function listWebhooks(
  { account: { sellerId } }: PageRequest, { instances, store }: Portal,
): Promise<readonly Webhook[] | undefined> {
  if (!instances.get(webhookService)) return undefined;
  return store.listWebhooks(sellerId, { after: undefined, limit: WEBHOOKS_PER_SELLER_LIMIT });
}

/**
 * The webhook in the path.
 * @throws AppError `not_found`, also for a webhook of another seller or if webhooks are disabled
 */
export function getWebhook(request: PageRequest, portal: Portal): Promise<Webhook> {
  return getOwnWebhook(portal, referenceOf(request, portal));
}

/** The webhook id in the path; the webhook may not exist. @throws AppError `not_found` as above */
export function referenceOf(
  { account, parameters }: PageRequest, portal: Portal,
): WebhookReference {
  return readReference(portal, account.sellerId, parameters);
}

/** A webhook's name in titles. */
export function nameOf({ description, url }: Webhook): string {
  return shorten(description || url, WEBHOOK_TEXT_BYTES);
}

/** Why an attempt is not possible now. */
export type Obstacle = 'secret' | 'history';

/** Of a disabled webhook; an active one has none, because it would have been disabled. */
export async function findObstacle(
  webhook: Webhook, { store }: Portal,
): Promise<Obstacle | undefined> {
  if (webhook.status === 'active') return undefined;
  if (!await store.findWebhookSecrets(webhook)) return 'secret';
  return await hasNextChanges(store, webhook) ? undefined : 'history';
}

/** Path of a webhook's page, below `/portal`. */
export function pathOf(webhook: Webhook): string {
  return `/webhooks/${formatWebhookId(webhook)}`;
}

/** How many changes a webhook has still to receive. */
export function describeLag(format: Format, changes: number): string {
  if (changes <= 0) return 'Up to date';
  return changes === 1 ? '1 change waiting' : `${format.number(changes)} changes waiting`;
}

export function renderState({ status, failures }: Webhook): Html {
  if (status === 'disabled') return html`<span class="tag bad">disabled</span>`;
  if (failures > 0) return html`<span class="tag low">failing</span>`;
  return html`<span class="tag good">active</span>`;
}

/** What is wrong with a webhook that needs attention, after its name. */
export function describeTrouble({ status }: Webhook): string {
  return status === 'active' ? 'is failing' : 'was disabled';
}

export function describeTypes({ types }: Webhook): string {
  if (types === null) return 'All changes';
  return WEBHOOK_TYPE_CHOICES.filter(({ value }) => types.some((type) => type === value))
    .map(({ label }) => label).join('; ');
}

function renderDisabled(request: PageRequest, portal: Portal): Reply {
  return renderPage(request, portal, {
    title: 'Webhooks',
    content: html`<div class="empty"><p>Webhooks are disabled on this server. Its operator can
      enable them.</p><p>Until then, your programs can read changes through the API:
      <a href="${request.link('/api/listChanges')}">see how</a>.</p></div>`,
  });
}

function renderRow({ format, link, position: last }: PageRequest, webhook: Webhook): Row {
  const { url, description, position, failingSince } = webhook;
  return [
    html`<a href="${link(pathOf(webhook))}">${shorten(url, WEBHOOK_TEXT_BYTES)}</a>
      ${description !== '' && html`<br><span class="small quiet"><bdi>${
  shorten(description, WEBHOOK_TEXT_BYTES)}</bdi></span>`}`,
    renderState(webhook),
    describeTypes(webhook),
    describeLag(format, last - position),
    failingSince !== undefined && format.timeElement(failingSince),
  ];
}

export async function renderWebhookBanner(request: PageRequest, portal: Portal): Promise<Content> {
  const webhooks = await listWebhooks(request, portal) ?? [];
  const troubled = webhooks.filter(needsAttention);
  if (troubled.length === 0) return undefined;
  if (!request.may('owner')) {
    return html`<div class="notice bad"><p>A webhook does not deliver changes. Owners of this shop
      can see why.</p></div>`;
  }
  const rows = await Promise.all(troubled.slice(0, WEBHOOK_BANNER_ROWS)
    .map((webhook) => renderTroubled(request, portal, webhook)));
  const rest = troubled.length - rows.length;
  return html`<div class="notice bad">${rows}
    ${rest > 0 && html`<p><a href="${request.link('/webhooks')}">And ${rest} more</a></p>`}</div>`;
}

async function renderTroubled(
  { format, link }: PageRequest, { store }: Portal, webhook: Webhook,
): Promise<Html> {
  const newest = { before: undefined, limit: WEBHOOK_BANNER_ATTEMPTS };
  const attempts = await store.listWebhookAttempts(webhook, newest);
  const { failingSince, disabledReason } = webhook;
  const outcome = attempts.find(({ kind }) => kind === 'changes')?.outcome;
  return html`<p>Webhook <a href="${link(pathOf(webhook))}"><bdi>${nameOf(webhook)}</bdi></a>
    ${describeTrouble(webhook)}.
    ${failingSince !== undefined && html`First failure: ${format.timeElement(failingSince)}.`}
    ${disabledReason ?? (outcome !== undefined && html`Last attempt: ${
  shorten(outcome, WEBHOOK_TEXT_BYTES)}.`)}</p>`;
}

export const webhookFinder: Finder = {
  id: 'webhooks',
  title: 'Webhooks',
  async find(request, portal, q, limit) {
    const isMatch = matcherOf(q);
    const all = await listForOwner(request, portal);
    return cut(all.filter(({ url, description }) => isMatch(`${url}\n${description}`))
      .map(toResult), limit);
  },
  async findNamed(request, portal, q) {
    const id = parseWebhookId(request.account.sellerId, q);
    if (id === undefined) return undefined;
    const webhook = (await listForOwner(request, portal)).find((candidate) =>
      candidate.id === id);
    return webhook && toResult(webhook);
  },
};

/** None if webhooks are disabled. */
async function listForOwner(request: PageRequest, portal: Portal): Promise<readonly Webhook[]> {
  return request.may('owner') ? await listWebhooks(request, portal) ?? [] : [];
}

function toResult(webhook: Webhook): SearchResult {
  const { url, description } = webhook;
  return [pathOf(webhook), nameOf(webhook),
    description === '' ? undefined : shorten(url, WEBHOOK_TEXT_BYTES)];
}
