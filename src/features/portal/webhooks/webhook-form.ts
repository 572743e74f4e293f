/** Creating and editing webhooks. The secret is shown once, in the response to the form. */
import { formatWebhookId } from '../../../domain/id.ts';
import { WEBHOOK_DESCRIPTION_LIMIT_CODE_POINTS } from '../../../domain/limits.ts';
import { parseNewWebhook } from '../../../domain/webhooks/webhook-input.ts';
import type { NewWebhook, Webhook } from '../../../domain/webhooks/webhook.ts';
import type { Reply } from '../../../http/response/reply.ts';
import type { WebhookWithSecret } from '../../../store/webhook-store.ts';
import { getWebhooks } from '../../webhooks/routes.ts';
import { WEBHOOK_TYPE_CHOICES } from '../forms/change-types.ts';
import type { Field } from '../forms/fields.ts';
import { makeDraftRoute, renderFormPage } from '../forms/form-page.ts';
import {
  Form, type FormState, isDuplicateSubmission, NO_ERRORS, nonceField, rejectedState, toWriteContext,
} from '../forms/form.ts';
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

/** GET /portal/webhooks/new, GET /portal/webhooks/{webhook_id}/edit: 200, 404 */
export async function showWebhookForm(request: PageRequest, portal: Portal): Promise<Reply> {
  const webhook = await findEdited(request, portal);
  const form = new Form(webhook && [
    ['url', webhook.url], ['description', webhook.description], ['delivery', webhook.delivery],
    ...(webhook.types ?? []).map((type) => ['types', type]),
  ]);
  return renderForm(request, portal, { form, errors: NO_ERRORS });
}

/** POST /portal/webhooks/new: 200, 400, 404, 409, 422. {webhook_id}/edit: 303, 404, 422 */
export async function saveWebhook(
  request: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const edited = await findEdited(request, portal);
  const webhooks = getWebhooks(portal);
  const write = toWriteContext(request, edited ? undefined : form);
  try {
    const webhook = await parseNewWebhook(readMembers(form), (url) =>
      webhooks.checkUrl(write.sellerId, url));
    if (!edited) {
      return await renderSecretOnce(request, portal, () =>
        portal.store.createWebhook(write, webhook));
    }
    await portal.store.patchWebhook(write, edited.id, webhook);
    return redirect(request.link(`${pathOf(edited)}?done=changed`));
  } catch (error) {
    return renderForm(request, portal, rejectedState(form, error));
  }
}

export const webhookDraft = makeDraftRoute(FIELDS, async (request, portal, state) => {
  await findEdited(request, portal);
  return renderForm(request, portal, state);
});

/** The webhook in the path; undefined for a new one. @throws AppError `not_found` */
async function findEdited(request: PageRequest, portal: Portal): Promise<Webhook | undefined> {
  getWebhooks(portal);
  return 'webhook_id' in request.parameters ? getWebhook(request, portal) : undefined;
}

/** Creates a secret and shows it, unless the form was submitted before. */
export async function renderSecretOnce(
  request: PageRequest, portal: Portal, create: () => Promise<WebhookWithSecret>,
): Promise<Reply> {
  const created = await create().catch((error: unknown) => {
    if (isDuplicateSubmission(error)) return undefined;
    throw error;
  });
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

/** The body that an API client would send. */
function readMembers(form: Form): { readonly [Member in keyof NewWebhook]: unknown } {
  const types = form.getAll('types');
  return {
    url: form.getTrimmed('url'),
    description: form.getTrimmed('description'),
    types: types.length === 0 ? null : types,
    delivery: form.get('delivery') || 'batch',
  };
}

/** The form for a new webhook, or for the one in the path. */
function renderForm(request: PageRequest, portal: Portal, state: FormState): Reply {
  const id = request.parameters['webhook_id'];
  const [title, path, action, submit, back] = id === undefined
    ? ['New webhook', '/webhooks', '/new', 'Create webhook', 'All webhooks'] as const
    : ['Edit webhook', `/webhooks/${id}`, '/edit', 'Save', 'Back to webhook'] as const;
  return renderFormPage(request, portal, {
    title, action: path + action, submit, fields: FIELDS,
    hidden: id === undefined && nonceField(),
    after: html`<p><a href="${request.link(path)}">${back}</a></p>`,
  }, state);
}
