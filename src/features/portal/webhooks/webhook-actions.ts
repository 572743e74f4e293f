/** What is done with a webhook: test, disable, enable, send again, replace its secret, delete. */
import { getWebhooks } from '../../webhooks/routes.ts';
import { AppError } from '../../../domain/error.ts';
import { PORTAL_KEY_ID } from '../../../domain/id.ts';
import { parseReplay, parseWebhookPatch } from '../../../domain/webhooks/webhook-input.ts';
import type { Reply } from '../../../http/response/reply.ts';
import type { Write } from '../../../store/write.ts';
import { postForm } from '../forms/fields.ts';
import { type Faults, type Form, NO_FAULTS, readFaults } from '../forms/form.ts';
import { html } from '../html/html.ts';
import { onceField, readOnce } from '../forms/form-nonce.ts';
import { readOverlap } from '../forms/overlap.ts';
import { redirect, renderPage } from '../html/page.ts';
import type { DraftRoute, Portal, PageRequest } from '../route.ts';
import { pathOf } from './webhook-cards.ts';
import { findWholeNumber } from '../forms/whole-number.ts';
import { renderMadeSecret } from './webhook-form.ts';
import { getWebhook, nameOf, readWebhookId, renderWebhook } from './webhooks.ts';

/** POST /portal/webhooks/{webhook_id}/test: 303, 404, 503 */
export async function testWebhook(visit: PageRequest, portal: Portal): Promise<Reply> {
  const webhook = await getWebhook(visit, portal);
  await getWebhooks(portal).sendTest(webhook);
  return redirect(visit.link(`${pathOf(webhook)}?done=tested`));
}

/** POST /portal/webhooks/{webhook_id}/status: 303, 400, 404 */
export async function switchWebhook(
  visit: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const webhook = await getWebhook(visit, portal);
  const { sellerId, id } = webhook;
  const patch = await parseWebhookPatch({ status: form.get('status') }, async () => undefined);
  const { address } = visit;
  await portal.store.patchWebhook({ sellerId, keyId: PORTAL_KEY_ID, address }, id, patch);
  const done = patch.status === 'active' ? 'enabled' : 'disabled';
  return redirect(visit.link(`${pathOf(webhook)}?done=${done}`));
}

/** POST /portal/webhooks/{webhook_id}/replay: 303, 400, 404, 422 */
export async function replayWebhook(
  visit: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const webhook = await getWebhook(visit, portal);
  const typed = form.getTrimmed('position');
  try {
    const position = parseReplay({ position: findWholeNumber(typed) ?? NaN }, visit.position);
    await portal.store.replayWebhook(writeOf(visit, form), webhook.id, position);
    return redirect(visit.link(`${pathOf(webhook)}?done=replayed`));
  } catch (error) {
    return renderWebhook(visit, portal, webhook, readPositionFault(error), typed);
  }
}

export const replayDraft: DraftRoute = {
  fields: ['position'],
  show: async (visit, portal, form) => renderWebhook(
    visit, portal, await getWebhook(visit, portal), NO_FAULTS, form.getTrimmed('position'),
  ),
};

/** POST /portal/webhooks/{webhook_id}/rotate: 200, 400, 404, 409 */
export async function rotateSecret(visit: PageRequest, portal: Portal, form: Form): Promise<Reply> {
  const { id } = await getWebhook(visit, portal);
  const overlapMs = readOverlap(form);
  const write = writeOf(visit, form);
  return renderMadeSecret(visit, portal, () =>
    portal.store.rotateWebhookSecret(write, id, overlapMs));
}

/** GET /portal/webhooks/{webhook_id}/delete: 200, 404 */
export async function showWebhookDeletion(visit: PageRequest, portal: Portal): Promise<Reply> {
  const webhook = await getWebhook(visit, portal);
  const path = visit.link(pathOf(webhook));
  return renderPage(visit, portal, {
    title: `Delete the webhook: ${nameOf(webhook)}`,
    content: html`<p>Nothing more is sent to ${webhook.url}, and the log of what was sent is deleted
        with it. This cannot be undone.</p>
      <div class="actions">
        ${postForm(visit, `${path}/delete`, html`${onceField()}
          <button class="danger">Delete this webhook</button>`)}
        <a class="button" href="${path}">Keep it</a>
      </div>`,
  });
}

/** POST /portal/webhooks/{webhook_id}/delete: 303, 400, 404, 422 */
export async function deleteWebhook(
  visit: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  // Sent twice, it is not there the second time, and the store knows that this was done.
  await portal.store.deleteWebhook(writeOf(visit, form), readWebhookId(visit, portal));
  return redirect(visit.link('/webhooks?done=deleted'));
}

function writeOf({ account: { sellerId }, address }: PageRequest, form: Form): Write {
  return { sellerId, keyId: PORTAL_KEY_ID, idempotency: readOnce(form), address };
}

/** What is wrong with the position; anything else is thrown on. */
function readPositionFault(error: unknown): Faults {
  if (error instanceof AppError) {
    if (error.code === 'history_pruned') return new Map([['position', error.publicDetail]]);
    const faults = readFaults(error.issues);
    if (error.code === 'invalid_data' && faults.size > 0) return faults;
  }
  throw error;
}
