/**
 * Webhook actions: test, retry, resend a message or changes, disable, enable, rotate the secret,
 * delete.
 */
import { setTimeout } from 'node:timers/promises';
import type { WebhookReference } from '../../../domain/id.ts';
import { needsAttention } from '../../../domain/webhooks/webhook-changes.ts';
import { parseReplay, parseWebhookPatch } from '../../../domain/webhooks/webhook-input.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { getAttempt } from '../../webhooks/deliveries.ts';
import { getWebhooks } from '../../webhooks/routes.ts';
import { confirmation, makeDraftRoute } from '../forms/form-page.ts';
import { type Form, nonceField, rejectedState, toWriteContext } from '../forms/form.ts';
import { findWholeNumber, readOverlap } from '../forms/typed-values.ts';
import { html } from '../html/html.ts';
import { redirect, renderPage } from '../html/page.ts';
import { WEBHOOK_RETRY_POLL_MS, WEBHOOK_RETRY_WAIT_MS } from '../limits.ts';
import type { PageRequest, Portal } from '../route.ts';
import { renderSecretOnce } from './webhook-form.ts';
import { renderWebhook, REPLAY_FIELD } from './webhook-page.ts';
import { getWebhook, nameOf, pathOf, referenceOf } from './webhooks.ts';

/** POST /portal/webhooks/{webhook_id}/test: 303, 404, 503 */
export async function testWebhook(request: PageRequest, portal: Portal): Promise<Reply> {
  const webhook = await getWebhook(request, portal);
  const { n } = await getWebhooks(portal).sendTest(webhook);
  return redirect(request.link(`${pathOf(webhook)}?done=sent&attempt=${n}`));
}

/** POST /portal/webhooks/{webhook_id}/attempts/{n}/resend: 303, 404, 410, 503 */
export async function resendMessage(request: PageRequest, portal: Portal): Promise<Reply> {
  const webhook = await getWebhook(request, portal);
  const attempt = await getAttempt(portal, webhook, request.parameters);
  const { n } = await getWebhooks(portal).resend(webhook, attempt);
  return redirect(request.link(`${pathOf(webhook)}?done=sent&attempt=${n}`));
}

/** POST /portal/webhooks/{webhook_id}/retry: 303, 404 */
export async function retryNow(request: PageRequest, portal: Portal): Promise<Reply> {
  const webhook = await getWebhook(request, portal);
  const last = await findLastAttempt(portal, webhook);
  // It may have been retried since the page was shown.
  const next = needsAttention(webhook) ? last + 1 : last;
  if (next > last) await portal.store.retryWebhook(toWriteContext(request), webhook.id);
  // Any node may send it: the log has the result. There is none if it disables the webhook again.
  const deadline = performance.now() + WEBHOOK_RETRY_WAIT_MS;
  while (await findLastAttempt(portal, webhook) < next && performance.now() < deadline) {
    if ((await portal.store.findWebhook(webhook))?.status !== 'active') break;
    await setTimeout(WEBHOOK_RETRY_POLL_MS);
  }
  return redirect(request.link(`${pathOf(webhook)}?done=sent&attempt=${next}`));
}

/** The number of the newest attempt; 0 without one. */
async function findLastAttempt({ store }: Portal, webhook: WebhookReference): Promise<number> {
  const [last] = await store.listWebhookAttempts(webhook, { before: undefined, limit: 1 });
  return last?.n ?? 0;
}

/** POST /portal/webhooks/{webhook_id}/status: 303, 400, 404 */
export async function switchWebhook(
  request: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const webhook = await getWebhook(request, portal);
  const patch = await parseWebhookPatch({ status: form.get('status') }, async () => undefined);
  await portal.store.patchWebhook(toWriteContext(request), webhook.id, patch);
  const done = patch.status === 'active' ? 'enabled' : 'disabled';
  return redirect(request.link(`${pathOf(webhook)}?done=${done}`));
}

/** POST /portal/webhooks/{webhook_id}/replay: 303, 400, 404, 422 */
export async function replay(
  request: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const webhook = await getWebhook(request, portal);
  const write = toWriteContext(request, form);
  try {
    const typed = findWholeNumber(form.getTrimmed('position'));
    const position = parseReplay({ position: typed ?? NaN }, request.position);
    await portal.store.replayWebhook(write, webhook.id, position);
    return redirect(request.link(`${pathOf(webhook)}?done=replayed`));
  } catch (error) {
    return renderWebhook(request, portal, webhook, rejectedState(form, error));
  }
}

export const replayDraft = makeDraftRoute([REPLAY_FIELD], async (request, portal, state) =>
  renderWebhook(request, portal, await getWebhook(request, portal), state));

/** POST /portal/webhooks/{webhook_id}/rotate: 200, 400, 404, 409 */
export async function rotateSecret(
  request: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const { id } = await getWebhook(request, portal);
  const overlapMs = readOverlap(form);
  const write = toWriteContext(request, form);
  return renderSecretOnce(request, portal, () =>
    portal.store.rotateWebhookSecret(write, id, overlapMs));
}

/** GET /portal/webhooks/{webhook_id}/delete: 200, 404 */
export async function showWebhookDeletion(request: PageRequest, portal: Portal): Promise<Reply> {
  const webhook = await getWebhook(request, portal);
  const path = request.link(pathOf(webhook));
  return renderPage(request, portal, {
    title: `Delete webhook: ${nameOf(webhook)}`,
    content: html`<p>No more messages will be sent to ${webhook.url}, and its delivery log will be
        deleted. This cannot be undone.</p>
      ${confirmation(request, {
    action: `${path}/delete`, cancel: path, submit: 'Delete webhook', hidden: nonceField(),
  })}`,
  });
}

/** POST /portal/webhooks/{webhook_id}/delete: 303, 400, 404, 422 */
export async function deleteWebhook(
  request: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  // After a double click the webhook is already gone; the store then replays the first deletion.
  const { id } = referenceOf(request, portal);
  await portal.store.deleteWebhook(toWriteContext(request, form), id);
  return redirect(request.link('/webhooks?done=deleted'));
}
