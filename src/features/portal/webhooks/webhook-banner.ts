/**
 * Webhooks that need attention, for the overview: since when they fail, and why. Only owners see
 * which: their URLs may contain secrets.
 */
import { WEBHOOKS_PER_SELLER_LIMIT } from '../../../domain/limits.ts';
import type { Webhook } from '../../../domain/webhooks/webhook.ts';
import { needsAttention } from '../../../domain/webhooks/webhook-changes.ts';
import { webhookService } from '../../webhooks/routes.ts';
import { type Content, html, type Html, shorten } from '../html/html.ts';
import { WEBHOOK_BANNER_ATTEMPTS, WEBHOOK_BANNER_ROWS } from '../limits.ts';
import type { PageRequest, Portal } from '../route.ts';
import { describeTrouble, nameOf, pathOf, WEBHOOK_TEXT_BYTES } from './webhooks.ts';

export async function renderWebhookBanner(request: PageRequest, portal: Portal): Promise<Content> {
  if (!portal.instances.get(webhookService)) return undefined;
  const webhooks = await portal.store.listWebhooks(
    request.account.sellerId, { after: undefined, limit: WEBHOOKS_PER_SELLER_LIMIT },
  );
  const troubled = webhooks.filter(needsAttention);
  if (troubled.length === 0) return undefined;
  if (!request.may('owner')) {
    return html`<div class="notice bad"><p>A webhook does not deliver changes. Owners of this shop
      can see why.</p></div>`;
  }
  const rows = await Promise.all(troubled.slice(0, WEBHOOK_BANNER_ROWS)
    .map((webhook) => renderRow(request, portal, webhook)));
  const rest = troubled.length - rows.length;
  return html`<div class="notice bad">${rows}
    ${rest > 0 && html`<p><a href="${request.link('/webhooks')}">And ${rest} more</a></p>`}</div>`;
}

async function renderRow(
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
