/** The pages of webhooks. */
import { formRoutes, ownerGet, ownerPost, type PortalPart, submission } from '../page-routes.ts';
import { showAttempt } from './attempt-page.ts';
import { editWebhookForm, newWebhookForm } from './webhook-form.ts';
import {
  replayForm, resendMessage, retryNow, rotateSecret, switchWebhook, testWebhook,
  webhookDeletionForm,
} from './webhook-page.ts';
import { renderWebhookBanner, showWebhooks, webhookFinder } from './webhooks.ts';

export const webhookPages: PortalPart = {
  routes: [
    { ...ownerGet, path: '/webhooks', section: 'Webhooks', handle: showWebhooks },
    ...formRoutes('owner', '/webhooks/new', newWebhookForm),
    { ...ownerGet, path: '/webhooks/{webhook_id}', handle: replayForm.show },
    { ...ownerGet, path: '/webhooks/{webhook_id}/attempts/{n}', handle: showAttempt },
    { ...ownerPost, path: '/webhooks/{webhook_id}/attempts/{n}/resend', handle: resendMessage },
    { ...ownerPost, path: '/webhooks/{webhook_id}/retry', handle: retryNow },
    ...formRoutes('owner', '/webhooks/{webhook_id}/edit', editWebhookForm),
    { ...ownerPost, path: '/webhooks/{webhook_id}/test', handle: testWebhook },
    { ...ownerPost, path: '/webhooks/{webhook_id}/status', handle: switchWebhook },
    submission('owner', '/webhooks/{webhook_id}/replay', replayForm),
    { ...ownerPost, path: '/webhooks/{webhook_id}/rotate', handle: rotateSecret },
    ...formRoutes('owner', '/webhooks/{webhook_id}/delete', webhookDeletionForm),
  ],
  notice: renderWebhookBanner,
  finder: webhookFinder,
};
