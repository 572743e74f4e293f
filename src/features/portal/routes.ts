/**
 * All pages of the portal; paths are below `/portal`. Each handler documents its statuses. Before
 * it runs, `portal.ts` may redirect to the sign-in (303) or reject the request (403, 404, 405, 429;
 * a form also with 400, 408, 413, 415). `draft` shows a form again if its session ended while the
 * user was filling it in.
 */
import { settingsForm } from './account/account.ts';
import { showActivity } from './account/activity.ts';
import { emailForm, passwordForm } from './account/credentials.ts';
import { endSessions, showSessions } from './account/sessions.ts';
import { shopForm } from './account/shop.ts';
import {
  enableTwoFactor, makeRecoveryCodes, showTwoFactor, turnOffForm,
} from './account/two-factor.ts';
import { followLive, showChanges } from './changes/changes.ts';
import { exportMovementList, showMovements } from './changes/movements.ts';
import { undoChange } from './history/undo.ts';
import {
  cancelImport, changeImport, commitImport, discardImport, downloadRejectedRows, importDraft,
  showImport,
} from './imports/import-page.ts';
import { previewRevert } from './imports/revert/revert-page.ts';
import { importSample } from './imports/sample.ts';
import { showImports, uploadFile } from './imports/upload-page.ts';
import { findKey, showFindKey } from './keys/find-key.ts';
import { keyForm, revokeKey, rotateKey, showRevocation } from './keys/key-form.ts';
import { showKey, showKeys } from './keys/keys.ts';
import {
  findLeaked, replaceLeaked, revokeLeaked, showLeaked, showLeakedKey,
} from './keys/leaked.ts';
import { showApi, showOperation, showProblems } from './openapi/reference.ts';
import { showOverview } from './overview/overview.ts';
import { gridDraft, saveGrid, showGrid } from './products/grid/grid.ts';
import { exportFile } from './products/export-file.ts';
import { newProductForm } from './products/new-product.ts';
import { showProducts } from './products/product-list.ts';
import { actOnSelection } from './products/product-selection.ts';
import { adjustmentForm, stocktakeForm } from './products/product-stock.ts';
import {
  deleteProduct, editDraft, editProduct, showDeletion, showProduct,
} from './products/product.ts';
import { showRecord, showRecords } from './records/records.ts';
import type { AnonymousPageRequest, PageRoute, Portal } from './route.ts';
import { showSearch } from './search/search.ts';
import { join, showJoin } from './sign-in/join.ts';
import { showSignIn, showSignInCode, signIn, signInWithCode, signOut } from './sign-in/sign-in.ts';
import { switchTheme } from './sign-in/theme.ts';
import { showProgress, showStart, switchTour } from './start/start.ts';
import { showAttempt } from './webhooks/attempt-page.ts';
import {
  deleteWebhook, replayDraft, replayWebhook, resendMessage, retryNow, rotateSecret,
  showWebhookDeletion, switchWebhook, testWebhook,
} from './webhooks/webhook-actions.ts';
import { saveWebhook, showWebhookForm, webhookDraft } from './webhooks/webhook-form.ts';
import { showWebhook } from './webhooks/webhook-page.ts';
import { showWebhooks } from './webhooks/webhooks.ts';

const publicGet = { method: 'GET', access: 'public' } as const;
const publicPost = { method: 'POST', access: 'public' } as const;
const get = { method: 'GET', access: 'signed-in' } as const;
const post = { method: 'POST', access: 'signed-in' } as const;

export const routes: readonly PageRoute[] = [
  {
    ...publicGet, path: '/assets/{digest}/{name}',
    handle: async ({ parameters }: AnonymousPageRequest, { assets }: Portal) =>
      assets.answer(parameters['digest'] ?? '', parameters['name'] ?? ''),
  },

  { ...publicGet, path: '/join', handle: showJoin },
  { ...publicPost, path: '/join', handle: join },
  { ...publicGet, path: '/sign-in', handle: showSignIn },
  { ...publicPost, path: '/sign-in', handle: signIn },
  { ...publicGet, path: '/sign-in/code', handle: showSignInCode },
  { ...publicPost, path: '/sign-in/code', handle: signInWithCode },
  { ...post, path: '/sign-out', handle: signOut },
  { ...publicPost, path: '/theme', handle: switchTheme },

  { ...get, path: '/', section: 'Overview', handle: showOverview },

  { ...get, path: '/products', section: 'Products', handle: showProducts },
  { ...get, path: '/products/new', handle: newProductForm.show },
  { ...post, path: '/products/new', handle: newProductForm.submit, draft: newProductForm.draft },
  { ...post, path: '/products/selection', handle: actOnSelection },
  { ...get, path: '/products/grid', handle: showGrid },
  { ...post, path: '/products/grid', handle: saveGrid, draft: gridDraft },
  { ...get, path: '/products/{id}', handle: showProduct },
  { ...post, path: '/products/{id}', handle: editProduct, draft: editDraft },
  {
    ...post, path: '/products/{id}/stock',
    handle: stocktakeForm.submit, draft: stocktakeForm.draft,
  },
  {
    ...post, path: '/products/{id}/adjust',
    handle: adjustmentForm.submit, draft: adjustmentForm.draft,
  },
  { ...get, path: '/products/{id}/delete', handle: showDeletion },
  { ...post, path: '/products/{id}/delete', handle: deleteProduct },

  { ...get, path: '/live', handle: followLive },

  { ...get, path: '/search', handle: showSearch },

  { ...get, path: '/export', handle: exportFile },

  { ...get, path: '/import', section: 'Import and export', handle: showImports },
  { method: 'POST', access: 'upload', path: '/import', handle: uploadFile },
  { ...post, path: '/import/sample', handle: importSample },
  { ...get, path: '/import/{id}', handle: showImport },
  { ...post, path: '/import/{id}', handle: changeImport, draft: importDraft },
  { ...post, path: '/import/{id}/commit', handle: commitImport },
  { ...post, path: '/import/{id}/cancel', handle: cancelImport },
  { ...post, path: '/import/{id}/discard', handle: discardImport },
  { ...get, path: '/import/{id}/refused', handle: downloadRejectedRows },

  { ...get, path: '/imports', handle: showRecords },
  { ...get, path: '/imports/{import_id}', handle: showRecord },
  { ...post, path: '/imports/{import_id}/revert', handle: previewRevert },

  { ...get, path: '/changes', section: 'Changes', handle: showChanges },
  { ...get, path: '/movements', handle: showMovements },
  { ...get, path: '/movements/export', handle: exportMovementList },

  { ...post, path: '/changes/{position}/undo', handle: undoChange },

  { ...get, path: '/keys', section: 'API keys', handle: showKeys },
  { ...get, path: '/keys/new', handle: keyForm.show },
  { ...post, path: '/keys/new', handle: keyForm.submit, draft: keyForm.draft },
  { ...get, path: '/keys/find', handle: showFindKey },
  { ...post, path: '/keys/find', handle: findKey },
  { ...get, path: '/keys/{key_id}', handle: showKey },
  { ...post, path: '/keys/{key_id}/rotate', handle: rotateKey },
  { ...get, path: '/keys/{key_id}/revoke', handle: showRevocation },
  { ...post, path: '/keys/{key_id}/revoke', handle: revokeKey },

  { ...get, path: '/leaked', handle: showLeaked },
  { ...post, path: '/leaked', handle: findLeaked },
  { ...get, path: '/leaked/{key_id}', handle: showLeakedKey },
  { ...post, path: '/leaked/{key_id}/revoke', handle: revokeLeaked },
  { ...post, path: '/leaked/{key_id}/replace', handle: replaceLeaked },

  { ...get, path: '/webhooks', section: 'Webhooks', handle: showWebhooks },
  { ...get, path: '/webhooks/new', handle: showWebhookForm },
  { ...post, path: '/webhooks/new', handle: saveWebhook, draft: webhookDraft },
  { ...get, path: '/webhooks/{webhook_id}', handle: showWebhook },
  { ...get, path: '/webhooks/{webhook_id}/attempts/{n}', handle: showAttempt },
  { ...post, path: '/webhooks/{webhook_id}/attempts/{n}/resend', handle: resendMessage },
  { ...post, path: '/webhooks/{webhook_id}/retry', handle: retryNow },
  { ...get, path: '/webhooks/{webhook_id}/edit', handle: showWebhookForm },
  { ...post, path: '/webhooks/{webhook_id}/edit', handle: saveWebhook, draft: webhookDraft },
  { ...post, path: '/webhooks/{webhook_id}/test', handle: testWebhook },
  { ...post, path: '/webhooks/{webhook_id}/status', handle: switchWebhook },
  { ...post, path: '/webhooks/{webhook_id}/replay', handle: replayWebhook, draft: replayDraft },
  { ...post, path: '/webhooks/{webhook_id}/rotate', handle: rotateSecret },
  { ...get, path: '/webhooks/{webhook_id}/delete', handle: showWebhookDeletion },
  { ...post, path: '/webhooks/{webhook_id}/delete', handle: deleteWebhook },

  { ...get, path: '/api', section: 'API', handle: showApi },
  { ...get, path: '/api/problems', handle: showProblems },
  { ...get, path: '/api/{operation}', handle: showOperation },

  { ...get, path: '/activity', section: 'Activity', handle: showActivity },

  { ...get, path: '/start', handle: showStart, section: 'Getting started' },
  { ...post, path: '/start', handle: switchTour },
  { ...get, path: '/start/progress', handle: showProgress },

  { ...get, path: '/account', section: 'Account', handle: settingsForm.show },
  { ...post, path: '/account', handle: settingsForm.submit, draft: settingsForm.draft },
  { ...get, path: '/account/shop', handle: shopForm.show },
  { ...post, path: '/account/shop', handle: shopForm.submit, draft: shopForm.draft },
  { ...get, path: '/account/email', handle: emailForm.show },
  { ...post, path: '/account/email', handle: emailForm.submit, draft: emailForm.draft },
  { ...get, path: '/account/password', handle: passwordForm.show },
  { ...post, path: '/account/password', handle: passwordForm.submit },
  { ...get, path: '/account/second-step', handle: showTwoFactor },
  { ...post, path: '/account/second-step', handle: enableTwoFactor },
  { ...post, path: '/account/second-step/codes', handle: makeRecoveryCodes },
  { ...post, path: '/account/second-step/off', handle: turnOffForm.submit },
  { ...get, path: '/account/sessions', handle: showSessions },
  { ...post, path: '/account/sessions', handle: endSessions },
];
