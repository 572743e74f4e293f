/** Creating and editing webhooks. The secret is shown once, in the response to the form. */
import { undefinedIf } from '../../../domain/error.ts';
import { formatWebhookId } from '../../../domain/id.ts';
import { WEBHOOK_DESCRIPTION_LIMIT_CODE_POINTS } from '../../../domain/limits.ts';
import { parseNewWebhook } from '../../../domain/webhooks/webhook-input.ts';
import type { NewWebhook } from '../../../domain/webhooks/webhook.ts';
import type { Reply } from '../../../http/response/reply.ts';
import type { WebhookWithSecret } from '../../../store/webhook-store.ts';
import { getWebhooks } from '../../webhooks/routes.ts';
import { WEBHOOK_TYPE_CHOICES } from '../forms/change-types.ts';
import type { Field } from '../forms/fields.ts';
import { defineFormPage } from '../forms/form-page.ts';
import { type Form, nonceField, toWriteContext } from '../forms/form.ts';
import { card, copyable } from '../html/elements.ts';
import { html, type Html } from '../html/html.ts';
import { redirect, renderPage } from '../html/page.ts';
import type { PageRequest, Portal } from '../route.ts';
import { DELIVERY_CHOICES, getWebhook, pathOf } from './webhooks.ts';

const FIELDS: readonly Field[] = [
  {
    name: 'url', label: 'URL', type: 'url', isRequired: true,
    hint: 'Your endpoint, for example https://shop.example/changes. It receives POST requests.',
  },
  {
    name: 'description', label: 'Description', maxLength: WEBHOOK_DESCRIPTION_LIMIT_CODE_POINTS,
    hint: 'Optional. For your own reference.',
  },
  {
    name: 'types', label: 'Events', control: 'checkboxes', choices: WEBHOOK_TYPE_CHOICES,
    hint: 'Select none to receive all changes.',
  },
  {
    name: 'delivery', label: 'Messages', control: 'radio', initial: 'batch',
    choices: DELIVERY_CHOICES,
    hint: 'Services such as Zapier, Make and n8n run once for each message.',
  },
];

/** GET /portal/webhooks/new: 200, 404. POST: 200, 400, 404, 409, 422 */
export const newWebhookForm = defineFormPage({
  fields: FIELDS,
  find: (_, portal) => getWebhooks(portal),
  page: ({ link }) => ({
    title: 'New webhook', submit: 'Create webhook', hidden: nonceField(),
    after: html`<p><a href="${link('/webhooks')}">All webhooks</a></p>`,
  }),
  async save(_, request, portal, { form }) {
    const write = toWriteContext(request, form);
    const webhook = await readWebhook(request, portal, form);
    return renderSecretOnce(request, portal, () => portal.store.createWebhook(write, webhook));
  },
});

/** GET /portal/webhooks/{webhook_id}/edit: 200, 404. POST: 303, 404, 422 */
export const editWebhookForm = defineFormPage({
  fields: FIELDS,
  find: getWebhook,
  initial: ({ subject: { url, description, delivery, types } }) => [
    ['url', url], ['description', description], ['delivery', delivery],
    ...(types ?? []).map((type): [string, string] => ['types', type]),
  ],
  page: ({ subject, link }) => ({
    title: 'Edit webhook', submit: 'Save',
    after: html`<p><a href="${link(pathOf(subject))}">Back to webhook</a></p>`,
  }),
  async save(_, request, portal, { form }) {
    const { subject, link } = request;
    const webhook = await readWebhook(request, portal, form);
    await portal.store.patchWebhook(toWriteContext(request), subject.id, webhook);
    return redirect(link(`${pathOf(subject)}?done=changed`));
  },
});

/** Creates a secret and shows it, unless the form was submitted before. */
export async function renderSecretOnce(
  request: PageRequest, portal: Portal, create: () => Promise<WebhookWithSecret>,
): Promise<Reply> {
  const created = await undefinedIf('idempotency_mismatch', create());
  if (created && !created.isReplay) {
    const path = request.link(pathOf(created.webhook));
    return renderPage(request, portal, {
      title: 'Webhook secret',
      content: html`${renderNewSecret(created)}
        <p><a class="button primary" href="${path}">View webhook</a></p>`,
    });
  }
  return renderPage(request, portal, {
    title: 'Already submitted',
    status: 409,
    content: html`<p>You already submitted this form, so nothing was changed again. The secret
      was shown once. If you didn't copy it, rotate it on the webhook's page.</p>
      <p><a class="button" href="${request.link('/webhooks')}">All webhooks</a></p>`,
  });
}

function renderNewSecret({ webhook, secret }: WebhookWithSecret): Html {
  return card('new-secret', 'Signing secret', html`
    <p>Copy it now. You won't see it again. Your server uses it to verify that messages come
      from this server.</p>
    ${copyable('secret', secret)}
    <h3>How to verify a message</h3>
    <p>Messages are signed as specified by Standard Webhooks 1.0.0, which has libraries for most
      languages. Without a library:</p>
    <ol>
      <li>Join <code>webhook-id</code>, <code>webhook-timestamp</code> (both are headers) and the
        unmodified body with full stops.</li>
      <li>Compute the HMAC-SHA256 of the result. The key is the part after <code>whsec_</code>,
        decoded from base64.</li>
      <li>Encode it in base64 and prefix <code>v1,</code>. It must equal one of the space-separated
        signatures in <code>webhook-signature</code>.</li>
      <li>Reject a <code>webhook-timestamp</code> that is more than five minutes off, and messages
        for any webhook other than <code>${formatWebhookId(webhook)}</code>.</li>
    </ol>`);
}

/** Parses the body that an API client would send. */
function readWebhook(
  { account: { sellerId } }: PageRequest, portal: Portal, form: Form,
): Promise<NewWebhook> {
  const types = form.getAll('types');
  return parseNewWebhook({
    url: form.getTrimmed('url'),
    description: form.getTrimmed('description'),
    types: types.length === 0 ? null : types,
    delivery: form.get('delivery') || 'batch',
  }, (url) => getWebhooks(portal).checkUrl(sellerId, url));
}
