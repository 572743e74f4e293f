/** The pages of webhooks. */
import { ownerGet, ownerPost, type PortalPart } from '../page-routes.ts';
import { showAttempt } from './attempt-page.ts';
import { saveWebhook, showWebhookForm, webhookDraft } from './webhook-form.ts';
import {
  deleteWebhook, replay, replayDraft, resendMessage, retryNow, rotateSecret, showWebhook,
  showWebhookDeletion, switchWebhook, testWebhook,
} from './webhook-page.ts';
import { renderWebhookBanner, showWebhooks, webhookFinder } from './webhooks.ts';

export const webhookPages: PortalPart = {
  routes: [
    { ...ownerGet, path: '/webhooks', section: 'Webhooks', handle: showWebhooks },
    { ...ownerGet, path: '/webhooks/new', handle: showWebhookForm },
    { ...ownerPost, path: '/webhooks/new', handle: saveWebhook, draft: webhookDraft },
    { ...ownerGet, path: '/webhooks/{webhook_id}', handle: showWebhook },
    { ...ownerGet, path: '/webhooks/{webhook_id}/attempts/{n}', handle: showAttempt },
    { ...ownerPost, path: '/webhooks/{webhook_id}/attempts/{n}/resend', handle: resendMessage },
    { ...ownerPost, path: '/webhooks/{webhook_id}/retry', handle: retryNow },
    { ...ownerGet, path: '/webhooks/{webhook_id}/edit', handle: showWebhookForm },
    { ...ownerPost, path: '/webhooks/{webhook_id}/edit', handle: saveWebhook, draft: webhookDraft },
    { ...ownerPost, path: '/webhooks/{webhook_id}/test', handle: testWebhook },
    { ...ownerPost, path: '/webhooks/{webhook_id}/status', handle: switchWebhook },
    { ...ownerPost, path: '/webhooks/{webhook_id}/replay', handle: replay, draft: replayDraft },
    { ...ownerPost, path: '/webhooks/{webhook_id}/rotate', handle: rotateSecret },
    { ...ownerGet, path: '/webhooks/{webhook_id}/delete', handle: showWebhookDeletion },
    { ...ownerPost, path: '/webhooks/{webhook_id}/delete', handle: deleteWebhook },
  ],
  notice: renderWebhookBanner,
  finder: webhookFinder,
};
