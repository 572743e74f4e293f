/** Making a webhook and changing one. The secret is shown once, in the answer to the form. */
import { getWebhooks } from '../../webhooks/routes.ts';
import { AppError } from '../../../domain/error.ts';
import { PORTAL_KEY_ID } from '../../../domain/id.ts';
import { WEBHOOK_DESCRIPTION_LIMIT_CODE_POINTS } from '../../../domain/limits.ts';
import type { NewWebhook } from '../../../domain/webhooks/webhook.ts';
import { parseNewWebhook, parseWebhookPatch } from '../../../domain/webhooks/webhook-input.ts';
import type { Reply } from '../../../http/response/reply.ts';
import type { WebhookWithSecret } from '../../../store/webhook-store.ts';
import { CHANGE_TYPE_CHOICES } from '../changes/change-types.ts';
import { checkboxes, faultSummary, postForm, textField } from '../forms/fields.ts';
import { type Faults, Form, NO_FAULTS, readFaults } from '../forms/form.ts';
import { html, type Html } from '../html/html.ts';
import { renderNewSecret } from './new-secret.ts';
import { isDuplicateSubmission, onceField, readOnce } from '../forms/form-nonce.ts';
import { redirect, renderPage } from '../html/page.ts';
import type { DraftRoute, Portal, PageRequest } from '../route.ts';
import { pathOf } from './webhook-cards.ts';
import { getWebhook } from './webhooks.ts';

const LABELS = { url: 'Address', description: 'Description', types: 'Send only' };

/** GET /portal/webhooks/new: 200, 404 */
export async function showWebhookForm(visit: PageRequest, portal: Portal): Promise<Reply> {
  getWebhooks(portal);
  return renderNew(visit, portal, new Form(), NO_FAULTS);
}

/** POST /portal/webhooks/new: 200, 400, 404, 409, 422 */
export async function makeWebhook(visit: PageRequest, portal: Portal, form: Form): Promise<Reply> {
  const webhooks = getWebhooks(portal);
  const { account: { sellerId }, address } = visit;
  const write = { sellerId, keyId: PORTAL_KEY_ID, idempotency: readOnce(form), address };
  try {
    const sent = await parseNewWebhook(readMembers(form), (url) =>
      webhooks.checkUrl(sellerId, url));
    return await renderMadeSecret(visit, portal, () => portal.store.createWebhook(write, sent));
  } catch (error) {
    const { faults, refusal } = readRefusal(error);
    return renderNew(visit, portal, form, faults, refusal);
  }
}

/** GET /portal/webhooks/{webhook_id}/edit: 200, 404 */
export async function showWebhookEdit(visit: PageRequest, portal: Portal): Promise<Reply> {
  const { url, description, types } = await getWebhook(visit, portal);
  const form = new Form(new URLSearchParams([
    ['url', url], ['description', description], ...(types ?? []).map((type) => ['types', type]),
  ]));
  return renderEdit(visit, portal, form, NO_FAULTS);
}

/** POST /portal/webhooks/{webhook_id}/edit: 303, 404, 422 */
export async function editWebhook(visit: PageRequest, portal: Portal, form: Form): Promise<Reply> {
  const { sellerId, id } = await getWebhook(visit, portal);
  const webhooks = getWebhooks(portal);
  try {
    const patch = await parseWebhookPatch(readMembers(form), (url) =>
      webhooks.checkUrl(sellerId, url));
    const write = { sellerId, keyId: PORTAL_KEY_ID, address: visit.address };
    const { webhook } = await portal.store.patchWebhook(write, id, patch);
    return redirect(visit.link(`${pathOf(webhook)}?done=changed`));
  } catch (error) {
    return renderEdit(visit, portal, form, readRefusal(error).faults);
  }
}

const FIELDS = Object.keys(LABELS);

export const newWebhookDraft: DraftRoute = {
  fields: FIELDS,
  show: async (visit, portal, form) => renderNew(visit, portal, form, NO_FAULTS),
};

export const webhookDraft: DraftRoute = {
  fields: FIELDS,
  async show(visit, portal, form) {
    await getWebhook(visit, portal);
    return renderEdit(visit, portal, form, NO_FAULTS);
  },
};

/** Makes a secret and shows it; or says that this was done before. */
export async function renderMadeSecret(
  visit: PageRequest, portal: Portal, make: () => Promise<WebhookWithSecret>,
): Promise<Reply> {
  const made = await makeOnce(make);
  const path = made ? pathOf(made.webhook) : '/webhooks';
  const back = html`<p><a class="button" href="${visit.link(path)}">To the webhook</a></p>`;
  if (made) {
    return renderPage(visit, portal, {
      title: 'The secret of your webhook', content: html`${renderNewSecret(made)}${back}`,
    });
  }
  return renderPage(visit, portal, {
    title: 'This was done already',
    status: 409,
    content: html`<p>The secret was shown once, and nothing was done again. If you have not got it,
      replace it on the page of the webhook.</p>
      <p><a class="button" href="${visit.link('/webhooks')}">All webhooks</a></p>`,
  });
}

/** Undefined where the form had been sent before. */
async function makeOnce(
  make: () => Promise<WebhookWithSecret>,
): Promise<WebhookWithSecret | undefined> {
  try {
    const made = await make();
    return made.isReplay ? undefined : made;
  } catch (error) {
    if (isDuplicateSubmission(error)) return undefined;
    throw error;
  }
}

/** What the API would be sent. */
function readMembers(form: Form): { readonly [Member in keyof NewWebhook]: unknown } {
  const types = form.getAll('types');
  return {
    url: form.getTrimmed('url'),
    description: form.getTrimmed('description'),
    types: types.length === 0 ? null : types,
  };
}

/** What a form says about it, of an error that a form can be told. */
function readRefusal(
  error: unknown,
): { readonly faults: Faults; readonly refusal?: string } {
  if (error instanceof AppError) {
    if (error.code === 'invalid_data') return { faults: readFaults(error.issues) };
    if (error.code === 'limit_reached') return { faults: NO_FAULTS, refusal: error.publicDetail };
  }
  throw error;
}

function renderNew(
  visit: PageRequest, portal: Portal, form: Form, faults: Faults, refusal?: string,
): Reply {
  return renderPage(visit, portal, {
    title: 'New webhook',
    status: refusal !== undefined ? 409 : faults.size > 0 ? 422 : 200,
    content: html`${faultSummary(faults, refusal, LABELS)}
      ${postForm(visit, visit.link('/webhooks/new'), html`${onceField()}
        ${renderFields(form, faults)}
        <button>Make the webhook</button>`, 'card stack')}
      <p><a href="${visit.link('/webhooks')}">All webhooks</a></p>`,
  });
}

function renderEdit(visit: PageRequest, portal: Portal, form: Form, faults: Faults): Reply {
  const path = visit.link(`/webhooks/${visit.parameters['webhook_id']}`);
  return renderPage(visit, portal, {
    title: 'Change the webhook',
    status: faults.size > 0 ? 422 : 200,
    content: html`${faultSummary(faults, undefined, LABELS)}
      ${postForm(visit, `${path}/edit`, html`${renderFields(form, faults)}
        <button>Save</button>`, 'card stack')}
      <p><a href="${path}">Back to the webhook</a></p>`,
  });
}

function renderFields(form: Form, faults: Faults): Html {
  return html`${textField({
    name: 'url', label: LABELS.url, type: 'url', value: form.get('url'), faults, isRequired: true,
    hint: 'Of your own server, such as https://shop.example/changes. Each message is a POST.',
  })}
    ${textField({
    name: 'description', label: LABELS.description, value: form.get('description'), faults,
    maxLength: WEBHOOK_DESCRIPTION_LIMIT_CODE_POINTS, hint: 'For yourself; it may be empty.',
  })}
    ${checkboxes({
    name: 'types', label: LABELS.types, faults, values: form.getAll('types'),
    choices: CHANGE_TYPE_CHOICES, hint: 'Tick none for all changes.',
  })}`;
}
