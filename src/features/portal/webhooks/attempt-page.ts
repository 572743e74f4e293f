/**
 * The page of one attempt to send a message: what was sent, and what the endpoint responded. Both
 * are text that others wrote: it is shown as it is, without control characters.
 */
import type {
  Header, WebhookAttempt, WebhookAttemptDetail,
} from '../../../domain/webhooks/webhook-attempt.ts';
import type { Webhook } from '../../../domain/webhooks/webhook.ts';
import { needsAttention } from '../../../domain/webhooks/webhook-changes.ts';
import { getAttempt } from '../../webhooks/deliveries.ts';
import { postForm } from '../forms/fields.ts';
import { card, copyable, facts, renderPositions } from '../html/elements.ts';
import { type Content, html, type Html, shorten } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import type { PageRequest, Show } from '../route.ts';
import { findObstacle, getWebhook, nameOf, pathOf, WEBHOOK_TEXT_BYTES } from './webhooks.ts';

/** The outcome of an attempt that succeeded. */
export const DELIVERED = 'delivered';

/** GET /portal/webhooks/{webhook_id}/attempts/{n}: 200, 404 */
export const showAttempt: Show = async (request, portal) => {
  const webhook = await getWebhook(request, portal);
  const attempt = await getAttempt(portal, webhook, request.parameters);
  const { format, link } = request;
  const { n, at, status, durationMs, outcome, messageId } = attempt;
  const back = link(pathOf(webhook));
  const canRetry = needsAttention(webhook) && !await findObstacle(webhook, portal);
  return renderPage(request, portal, {
    title: `Delivery attempt ${format.number(n)}`,
    content: html`<div class="card">${facts([
      ['Webhook', html`<a href="${back}"><bdi>${nameOf(webhook)}</bdi></a>`],
      ['When', format.fullTimeElement(at)],
      ['Event', describeMessage(attempt)],
      ['Result', renderOutcome(outcome)],
      ['HTTP status', status ?? 'none'],
      ['Duration', `${format.number(durationMs)} ms`],
      ['Message ID', html`<code>${messageId}</code>`],
    ])}
      ${renderPositions(request, attempt.first, attempt.last)}
      ${renderActions(request, webhook, attempt, canRetry)}</div>
      ${renderExchange(request, attempt)}
      <p><a href="${back}">Back to webhook</a></p>`,
  });
};

export function renderOutcome(outcome: string): Content {
  return outcome === DELIVERED ? html`<span class="tag good">delivered</span>`
    : shorten(outcome, WEBHOOK_TEXT_BYTES);
}

/** What an attempt sent: a test or changes. */
export function describeMessage({ kind, first, last }: WebhookAttempt): string {
  if (kind === 'test') return 'Test';
  return first === last ? '1 change' : 'Changes';
}

/** Sends the message again: as the next attempt of the delivery if it waits, or apart from it. */
function renderActions(
  request: PageRequest, webhook: Webhook, { n, messageId, message }: WebhookAttemptDetail,
  canRetry: boolean,
): Content {
  const path = request.link(pathOf(webhook));
  if (canRetry && webhook.message?.id === messageId) {
    return postForm(request, `${path}/retry`, html`<button class="primary">Retry now</button>`);
  }
  return message && html`
    ${postForm(request, `${path}/attempts/${n}/resend`, html`<button>Resend</button>`)}
    <p class="hint">Sends the message again with the same ID. Receivers that have processed it skip
      it.</p>`;
}

function renderExchange(
  { format }: PageRequest, { exchange, message }: WebhookAttemptDetail,
): Content {
  if (!exchange) {
    return message ? html`<p>Nothing was sent.</p>`
      : html`<p>The request and the response of this attempt are not stored.</p>`;
  }
  const { url, request, response } = exchange;
  const restBytes = request.bodyBytes - Buffer.byteLength(request.body);
  return [
    card('request', 'Request', html`${renderHeaders('request', `POST ${url}`, request.headers)}
      ${renderText('request-body', 'Body', request.body)}
      ${restBytes > 0 && html`<p class="hint">The beginning. The whole body has ${
    format.number(request.bodyBytes)} bytes.</p>`}`),
    card('response', 'Response', response ? html`
      ${renderHeaders('response', undefined, response.headers)}
      ${response.body === '' ? html`<p>The body is empty.</p>`
    : html`${renderText('response-body', 'Body', response.body)}
        <p class="hint">Up to the first 1,024 bytes.</p>`}` : html`<p>No response.</p>`),
  ];
}

function renderHeaders(id: string, first: string | undefined, headers: readonly Header[]): Html {
  const lines = headers.map(({ name, value }) => `${name}: ${value}`);
  return renderText(`${id}-headers`, 'Headers', [first ?? [], lines].flat().join('\n'));
}

function renderText(id: string, heading: string, text: string): Html {
  // Control characters, except tabs and line breaks.
  const cleanText = text.replace(/[\0-\x08\v\f\x0e-\x1f\x7f]/g, '\uFFFD');
  return html`<h3>${heading}</h3>${copyable(id, cleanText)}`;
}
