/** Actions on a webhook: test, disable, enable, resend changes, rotate its secret, delete. */
import { AppError } from '../../../domain/error.ts';
import { parseReplay, parseWebhookPatch } from '../../../domain/webhooks/webhook-input.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { getWebhooks } from '../../webhooks/routes.ts';
import { confirmation } from '../forms/form-page.ts';
import {
  type FieldErrors, fieldErrorsFrom, type Form, NO_ERRORS, nonceField, toWriteContext,
} from '../forms/form.ts';
import { findWholeNumber, readOverlap } from '../forms/typed-values.ts';
import { html } from '../html/html.ts';
import { redirect, renderPage } from '../html/page.ts';
import type { DraftRoute, PageRequest, Portal } from '../route.ts';
import { renderSecretOnce } from './webhook-form.ts';
import { renderWebhook } from './webhook-page.ts';
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
  const typed = form.getTrimmed('position');
  try {
    const position = parseReplay({ position: findWholeNumber(typed) ?? NaN }, request.position);
    await portal.store.replayWebhook(toWriteContext(request, form), webhook.id, position);
    return redirect(request.link(`${pathOf(webhook)}?done=replayed`));
  } catch (error) {
    return renderWebhook(request, portal, webhook, readPositionError(error), typed);
  }
}

export const replayDraft: DraftRoute = {
  fields: ['position'],
  show: async (request, portal, form) => renderWebhook(
    request, portal, await getWebhook(request, portal), NO_ERRORS, form.getTrimmed('position'),
  ),
};

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
  // On a double click the webhook is gone already; the store then replays the first deletion.
  const { id } = referenceOf(request, portal);
  await portal.store.deleteWebhook(toWriteContext(request, form), id);
  return redirect(request.link('/webhooks?done=deleted'));
}

/** The error of the position; other errors are rethrown. */
function readPositionError(error: unknown): FieldErrors {
  if (error instanceof AppError) {
    if (error.code === 'history_pruned') return new Map([['position', error.publicDetail]]);
    const errors = fieldErrorsFrom(error.issues);
    if (error.code === 'invalid_data' && errors.size > 0) return errors;
  }
  throw error;
}
