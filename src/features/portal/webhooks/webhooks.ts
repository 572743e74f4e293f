/** The webhooks of a shop: all of them, and the page of one with what was sent to it. */
import { formatWebhookId, parseWebhookId, type WebhookId } from '../../../domain/id.ts';
import { WEBHOOKS_PER_SELLER_LIMIT } from '../../../domain/limits.ts';
import {
  findNextAttempt, type Webhook, type WebhookAttempt,
} from '../../../domain/webhooks/webhook.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { getWebhooks, notFound, webhookService } from '../../webhooks/routes.ts';
import { CHANGE_TYPE_CHOICES } from '../html/change-types.ts';
import { errorSummary } from '../forms/fields.ts';
import { type FieldErrors, NO_ERRORS } from '../forms/form.ts';
import { findWholeNumber } from '../forms/typed-values.ts';
import { facts, flashNotice, notice, numeric, pager, type Row, table } from '../html/elements.ts';
import { type Content, html, type Html, shorten } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import { PORTAL_PAGE_ROWS } from '../limits.ts';
import type { PageRequest, Portal } from '../route.ts';
import { CARD_LABELS, pathOf, renderCards } from './webhook-cards.ts';

/** Of an address, a description or an outcome in a list. */
const TEXT_BYTES = 150;
const DELIVERED = 'delivered';

const DONE = new Map([
  ['changed', 'Webhook updated.'],
  ['disabled', 'Webhook disabled. Nothing is sent until you enable it.'],
  ['enabled', 'Webhook enabled. Delivery resumes where it stopped.'],
  ['replayed', 'The changes since that position are being sent again.'],
  ['deleted', 'Webhook deleted. Messages already in flight may still arrive.'],
]);

/** GET /portal/webhooks: 200 */
export async function showWebhooks(request: PageRequest, portal: Portal): Promise<Reply> {
  if (!portal.instances.get(webhookService)) return renderSwitchedOff(request, portal);
  const webhooks = await portal.store.listWebhooks(
    request.account.sellerId, { after: undefined, limit: WEBHOOKS_PER_SELLER_LIMIT },
  );
  return renderPage(request, portal, {
    title: 'Webhooks',
    content: html`${renderDone(request)}
      <p>Every change in your catalogue is sent to these URLs in order, and retried until it is
        delivered.</p>
      <p><a class="button main" href="${request.link('/webhooks/new')}">New webhook</a></p>
      ${table({
    caption: 'Webhooks',
    columns: ['URL', 'Status', 'Events', numeric('Delivered up to'), 'Failing since'],
    rows: webhooks.map((webhook) => renderRow(request, webhook)),
    empty: html`<p>No webhooks yet. Create one to notify your own server of each change as it
      happens.</p>`,
  })}`,
  });
}

/** GET /portal/webhooks/{webhook_id}: 200, 404 */
export async function showWebhook(request: PageRequest, portal: Portal): Promise<Reply> {
  return renderWebhook(request, portal, await getWebhook(request, portal), NO_ERRORS);
}

/**
 * The webhook that the path names.
 * @throws AppError `not_found`, alike whoever else's it is; and where webhooks are switched off
 */
export async function getWebhook(request: PageRequest, portal: Portal): Promise<Webhook> {
  const id = readWebhookId(request, portal);
  const webhook = await portal.store.findWebhook({ sellerId: request.account.sellerId, id });
  if (webhook) return webhook;
  throw notFound();
}

/** The id in the path, of a webhook that may be there. @throws AppError `not_found` as above */
export function readWebhookId({ account, parameters }: PageRequest, portal: Portal): WebhookId {
  getWebhooks(portal);
  const id = parseWebhookId(account.sellerId, parameters['webhook_id'] ?? '');
  if (id !== undefined) return id;
  throw notFound();
}

/** What it is called in a title. */
export function nameOf({ description, url }: Webhook): string {
  return shorten(description || url, TEXT_BYTES);
}

/** The page of one; `faults` are those of the position to send from again, which was `typed`. */
export async function renderWebhook(
  request: PageRequest, portal: Portal, webhook: Webhook, errors: FieldErrors, typed = '',
): Promise<Reply> {
  const before = findWholeNumber(request.query.get('before') ?? '');
  const found = await portal.store.listWebhookAttempts(webhook, {
    before, limit: PORTAL_PAGE_ROWS + 1,
  });
  const attempts = found.slice(0, PORTAL_PAGE_ROWS);
  const last = found.length > attempts.length ? attempts.at(-1)?.n : undefined;
  const path = request.link(pathOf(webhook));
  return renderPage(request, portal, {
    title: `Webhook: ${nameOf(webhook)}`,
    status: errors.size === 0 ? 200 : 422,
    content: html`${errorSummary(errors, undefined, CARD_LABELS)}
      ${renderDone(request, attempts)}
      <div class="card">${renderFacts(request, webhook)}
        <p class="actions"><a class="button" href="${path}/edit">Edit</a>
          <a class="button" href="${path}/delete">Delete …</a></p></div>
      ${renderCards(request, webhook, errors, typed)}
      <h2>Delivery attempts</h2>
      ${table({
    caption: 'Delivery attempts, newest first',
    columns: ['When', 'Event', 'Result', numeric('HTTP status'), numeric('Duration'), 'Message ID'],
    rows: attempts.map((attempt) => renderAttempt(request, attempt)),
    empty: html`<p>Nothing sent yet. Send a test message to check the connection.</p>`,
  })}
      ${pager('Pages of attempts', before === undefined ? undefined : path,
    last === undefined ? undefined : `${path}?before=${last}`)}
      <p><a href="${request.link('/webhooks')}">All webhooks</a></p>`,
  });
}

function renderSwitchedOff(request: PageRequest, portal: Portal): Reply {
  return renderPage(request, portal, {
    title: 'Webhooks',
    content: html`<div class="empty"><p>Webhooks are disabled on this server. Its operator can
      enable them.</p><p>Until then, your programs can read the changes through the API:
      <a href="${request.link('/api/listChanges')}">see how</a>.</p></div>`,
  });
}

function renderDone(request: PageRequest, attempts: readonly WebhookAttempt[] = []): Content {
  if (request.query.get('done') !== 'tested') return flashNotice(request, DONE);
  return renderTested(request, attempts.find(({ kind }) => kind === 'test'));
}

function renderTested({ format }: PageRequest, test: WebhookAttempt | undefined): Content {
  if (!test) return undefined;
  const { status, durationMs, outcome } = test;
  if (outcome === DELIVERED) {
    const response = `HTTP ${status ?? ''} after ${format.number(durationMs)} ms`;
    return notice(`The test message was delivered: ${response}.`);
  }
  return html`<div class="notice bad" role="alert">
    <p>The test message was not delivered: ${outcome}.</p></div>`;
}

function renderRow({ format, link }: PageRequest, webhook: Webhook): Row {
  const { url, description, position, failingSince } = webhook;
  return [
    html`<a href="${link(pathOf(webhook))}">${shorten(url, TEXT_BYTES)}</a>
      ${description !== '' && html`<br><span class="small quiet"><bdi>${
  shorten(description, TEXT_BYTES)}</bdi></span>`}`,
    renderState(webhook),
    describeTypes(webhook),
    format.number(position),
    failingSince !== undefined && format.timeElement(failingSince),
  ];
}

function renderState({ status, failures }: Webhook): Html {
  if (status === 'disabled') return html`<span class="tag bad">disabled</span>`;
  if (failures > 0) return html`<span class="tag low">failing</span>`;
  return html`<span class="tag good">active</span>`;
}

function describeTypes({ types }: Webhook): string {
  if (types === null) return 'All changes';
  return CHANGE_TYPE_CHOICES.filter(({ value }) => types.some((type) => type === value))
    .map(({ label }) => label).join('; ');
}

function renderFacts({ format, position }: PageRequest, webhook: Webhook): Html {
  const { url, description, disabledReason, failingSince, createdAt, updatedAt } = webhook;
  const nextAttemptAt = findNextAttempt(webhook);
  const pairs: (readonly [name: string, value: Content] | false)[] = [
    ['URL', url],
    description !== '' && ['Description', description],
    ['ID', html`<code>${formatWebhookId(webhook)}</code>`],
    ['Status', renderState(webhook)],
    disabledReason !== undefined && ['Reason', disabledReason],
    ['Events', describeTypes(webhook)],
    ['Delivered up to position',
      `${format.number(webhook.position)} of ${format.number(position)}`],
    failingSince !== undefined && ['Failing since', format.timeElement(failingSince)],
    nextAttemptAt !== undefined && ['Next attempt', format.timeElement(nextAttemptAt)],
    ['Created', format.timeElement(createdAt)],
    ['Updated', format.timeElement(updatedAt)],
  ];
  return facts(pairs.filter((pair) => pair !== false));
}

function renderAttempt({ format }: PageRequest, attempt: WebhookAttempt): Row {
  const { at, kind, first, last, status, durationMs, outcome, messageId } = attempt;
  const isWhole = first === last;
  const positions = [first ?? 0, ...isWhole ? [] : [last ?? 0]].map(format.number).join('–');
  return [
    format.timeElement(at),
    kind === 'test' ? 'Test' : `${isWhole ? 'Change' : 'Changes'} ${positions}`,
    outcome === DELIVERED ? html`<span class="tag good">delivered</span>`
      : shorten(outcome, TEXT_BYTES),
    status ?? 'none',
    `${format.number(durationMs)} ms`,
    html`<code>${messageId}</code>`,
  ];
}
