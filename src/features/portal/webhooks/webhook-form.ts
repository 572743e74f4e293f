/** Making a webhook and changing one. The secret is shown once, in the answer to the form. */
import { getWebhooks } from '../../webhooks/routes.ts';
import { AppError } from '../../../domain/error.ts';
import { WEBHOOK_DESCRIPTION_LIMIT_CODE_POINTS } from '../../../domain/limits.ts';
import type { NewWebhook } from '../../../domain/webhooks/webhook.ts';
import { parseNewWebhook, parseWebhookPatch } from '../../../domain/webhooks/webhook-input.ts';
import type { Reply } from '../../../http/response/reply.ts';
import type { WebhookWithSecret } from '../../../store/webhook-store.ts';
import { CHANGE_TYPE_CHOICES } from '../html/change-types.ts';
import { checkboxes, errorSummary, postForm, textField } from '../forms/fields.ts';
import {
  type FieldErrors, fieldErrorsFrom, Form, isDuplicateSubmission, NO_ERRORS, nonceField,
  toWriteContext,
} from '../forms/form.ts';
import { html, type Html } from '../html/html.ts';
import { renderNewSecret } from './new-secret.ts';
import { redirect, renderPage } from '../html/page.ts';
import type { DraftRoute, Portal, PageRequest } from '../route.ts';
import { pathOf } from './webhook-cards.ts';
import { getWebhook } from './webhooks.ts';

const LABELS = { url: 'URL', description: 'Description', types: 'Events' };

/** GET /portal/webhooks/new: 200, 404 */
export async function showWebhookForm(request: PageRequest, portal: Portal): Promise<Reply> {
  getWebhooks(portal);
  return renderNew(request, portal, new Form(), NO_ERRORS);
}

/** POST /portal/webhooks/new: 200, 400, 404, 409, 422 */
export async function makeWebhook(
  request: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const webhooks = getWebhooks(portal);
  const { sellerId } = request.account;
  const write = toWriteContext(request, form);
  try {
    const sent = await parseNewWebhook(readMembers(form), (url) =>
      webhooks.checkUrl(sellerId, url));
    return await renderMadeSecret(request, portal, () => portal.store.createWebhook(write, sent));
  } catch (error) {
    const { errors, refusal } = readRefusal(error);
    return renderNew(request, portal, form, errors, refusal);
  }
}

/** GET /portal/webhooks/{webhook_id}/edit: 200, 404 */
export async function showWebhookEdit(request: PageRequest, portal: Portal): Promise<Reply> {
  const { url, description, types } = await getWebhook(request, portal);
  const form = new Form(new URLSearchParams([
    ['url', url], ['description', description], ...(types ?? []).map((type) => ['types', type]),
  ]));
  return renderEdit(request, portal, form, NO_ERRORS);
}

/** POST /portal/webhooks/{webhook_id}/edit: 303, 404, 422 */
export async function editWebhook(
  request: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const { sellerId, id } = await getWebhook(request, portal);
  const webhooks = getWebhooks(portal);
  try {
    const patch = await parseWebhookPatch(readMembers(form), (url) =>
      webhooks.checkUrl(sellerId, url));
    const write = toWriteContext(request);
    const { webhook } = await portal.store.patchWebhook(write, id, patch);
    return redirect(request.link(`${pathOf(webhook)}?done=changed`));
  } catch (error) {
    return renderEdit(request, portal, form, readRefusal(error).errors);
  }
}

const FIELDS = Object.keys(LABELS);

export const newWebhookDraft: DraftRoute = {
  fields: FIELDS,
  show: async (request, portal, form) => renderNew(request, portal, form, NO_ERRORS),
};

export const webhookDraft: DraftRoute = {
  fields: FIELDS,
  async show(request, portal, form) {
    await getWebhook(request, portal);
    return renderEdit(request, portal, form, NO_ERRORS);
  },
};

/** Makes a secret and shows it; or says that this was done before. */
export async function renderMadeSecret(
  request: PageRequest, portal: Portal, make: () => Promise<WebhookWithSecret>,
): Promise<Reply> {
  const made = await makeOnce(make);
  const path = made ? pathOf(made.webhook) : '/webhooks';
  const back = html`<p><a class="button" href="${request.link(path)}">View webhook</a></p>`;
  if (made) {
    return renderPage(request, portal, {
      title: 'Webhook secret', content: html`${renderNewSecret(made)}${back}`,
    });
  }
  return renderPage(request, portal, {
    title: 'Already submitted',
    status: 409,
    content: html`<p>This form was already submitted, so nothing was done again. The secret was
      shown once. If you did not copy it, rotate it on the page of the webhook.</p>
      <p><a class="button" href="${request.link('/webhooks')}">All webhooks</a></p>`,
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
): { readonly errors: FieldErrors; readonly refusal?: string } {
  if (error instanceof AppError) {
    if (error.code === 'invalid_data') return { errors: fieldErrorsFrom(error.issues) };
    if (error.code === 'limit_reached') return { errors: NO_ERRORS, refusal: error.publicDetail };
  }
  throw error;
}

function renderNew(
  request: PageRequest, portal: Portal, form: Form, errors: FieldErrors, refusal?: string,
): Reply {
  return renderPage(request, portal, {
    title: 'New webhook',
    status: refusal !== undefined ? 409 : errors.size > 0 ? 422 : 200,
    content: html`${errorSummary(errors, refusal, LABELS)}
      ${postForm(request, request.link('/webhooks/new'), html`${nonceField()}
        ${renderFields(form, errors)}
        <button>Create webhook</button>`, 'card stack')}
      <p><a href="${request.link('/webhooks')}">All webhooks</a></p>`,
  });
}

function renderEdit(request: PageRequest, portal: Portal, form: Form, errors: FieldErrors): Reply {
  const path = request.link(`/webhooks/${request.parameters['webhook_id']}`);
  return renderPage(request, portal, {
    title: 'Edit webhook',
    status: errors.size > 0 ? 422 : 200,
    content: html`${errorSummary(errors, undefined, LABELS)}
      ${postForm(request, `${path}/edit`, html`${renderFields(form, errors)}
        <button>Save</button>`, 'card stack')}
      <p><a href="${path}">Back to webhook</a></p>`,
  });
}

function renderFields(form: Form, errors: FieldErrors): Html {
  return html`${textField({
    name: 'url', label: LABELS.url, type: 'url', value: form.get('url'), errors, isRequired: true,
    hint: 'Of your own server, for example https://shop.example/changes. Called with POST.',
  })}
    ${textField({
    name: 'description', label: LABELS.description, value: form.get('description'), errors,
    maxLength: WEBHOOK_DESCRIPTION_LIMIT_CODE_POINTS, hint: 'Optional, for your own reference.',
  })}
    ${checkboxes({
    name: 'types', label: LABELS.types, errors, values: form.getAll('types'),
    choices: CHANGE_TYPE_CHOICES, hint: 'Select none to receive all changes.',
  })}`;
}
