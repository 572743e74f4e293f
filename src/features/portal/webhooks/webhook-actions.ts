/** Webhook actions: test, disable, enable, resend changes, rotate the secret, delete. */
import { parseReplay, parseWebhookPatch } from '../../../domain/webhooks/webhook-input.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { getWebhooks } from '../../webhooks/routes.ts';
import { confirmation, makeDraftRoute } from '../forms/form-page.ts';
import { type Form, nonceField, rejectedState, toWriteContext } from '../forms/form.ts';
import { findWholeNumber, readOverlap } from '../forms/typed-values.ts';
import { html } from '../html/html.ts';
import { redirect, renderPage } from '../html/page.ts';
import type { PageRequest, Portal } from '../route.ts';
import { renderSecretOnce } from './webhook-form.ts';
import { renderWebhook, REPLAY_FIELD } from './webhook-page.ts';
import { getWebhook, nameOf, pathOf, referenceOf } from './webhooks.ts';

/** POST /portal/webhooks/{webhook_id}/test: 303, 404, 503 */
export async function testWebhook(request: PageRequest, portal: Portal): Promise<Reply> {
  const webhook = await getWebhook(request, portal);
  await getWebhooks(portal).sendTest(webhook);
  return redirect(request.link(`${pathOf(webhook)}?done=tested`));
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
export async function replayWebhook(
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
