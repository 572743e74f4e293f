/**
 * All pages of the portal; paths are below `/portal`. Each names the least role that it needs:
 * reading the catalogue viewer; changing it editor; keys, webhooks, people and activity owner. Each
 * handler documents its statuses. Before it runs, `portal.ts` may redirect to the sign-in (303) or
 * reject the request (403, 404, 405, 429; a form also with 400, 408, 413, 415). `draft` shows a
 * form again if its session ended while the user was filling it in.
 */
import type { Role } from '../../domain/access/account.ts';
import { emailForm, passwordForm, settingsForm, shopForm } from './account/account.ts';
import { showActivity } from './account/activity.ts';
import {
  addPasskey, newPasskeyForm, passwordSignInForm, removePasskeyForm, renamePasskeyForm,
  showPasskeys,
} from './account/passkeys.ts';
import { endSessions, showSessions } from './account/sessions.ts';
import {
  enableTwoFactor, makeRecoveryCodes, showTwoFactor, turnOffForm,
} from './account/two-factor.ts';
import { showCategories } from './categories/categories.ts';
import { CHANGE_FIELDS, followLive, showChanges } from './changes/changes.ts';
import { exportMovementList, showMovements } from './changes/movements.ts';
import { filterHandlers } from './filters/saved-filters.ts';
import { undoChange } from './history/undo.ts';
import type { FormHandlers } from './forms/form-page.ts';
import { actOnSelection, renameForm } from './imports/bulk/bulk-page.ts';
import {
  cancelImport, changeImport, commitImport, discardImport, downloadRejectedRows, importDraft,
  showImport,
} from './imports/import-page.ts';
import { revertImport, revertKeyChanges } from './imports/revert/revert-page.ts';
import { importSample, showImports, uploadFile } from './imports/upload-page.ts';
import { findKey, showFindKey, showKey, showKeys } from './keys/keys.ts';
import { keyForm, revokeKey, rotateKey, showRevocation } from './keys/key-form.ts';
import {
  findLeaked, replaceLeaked, revokeLeaked, showLeaked, showLeakedKey,
} from './keys/leaked.ts';
import { showApi, showOperation, showProblems } from './openapi/reference.ts';
import { showOverview } from './overview/overview.ts';
import {
  inviteForm, ownNameForm, personNameForm, removalForm, revokeInvitation, roleForm, showPeople,
  showPerson,
} from './people/people.ts';
import { gridDraft, saveGrid, showGrid } from './products/grid/grid.ts';
import { exportFile } from './products/export-file.ts';
import { newProductForm } from './products/product-form.ts';
import { archiveProduct } from './products/product-view.ts';
import { showProducts } from './products/product-list.ts';
import { searchFields } from './products/product-search.ts';
import {
  adjustmentForm, deleteProduct, editDraft, editProduct, showDeletion, showProduct, stocktakeForm,
} from './products/product.ts';
import { showRecord, showRecords } from './records/records.ts';
import { downloadReport, showReports } from './reports/reports.ts';
import type { Addition, AnonymousPageRequest, PageRoute, Portal } from './route.ts';
import { showSearch } from './search/search.ts';
import { join, showJoin } from './sign-in/join.ts';
import {
  reopenSignIn, sendConfirmationOptions, sendSignInOptions, showSignIn, showSignInCode, signIn,
  signInWithCode, signInWithPasskey, signOut,
} from './sign-in/sign-in.ts';
import { switchTheme } from './sign-in/theme.ts';
import { showProgress, showStart, switchTour } from './start/tour.ts';
import { showAttempt } from './webhooks/attempt-page.ts';
import {
  deleteWebhook, replay, replayDraft, resendMessage, retryNow, rotateSecret, showWebhook,
  showWebhookDeletion, switchWebhook, testWebhook,
} from './webhooks/webhook-page.ts';
import { renderWebhookBanner, showWebhooks, webhookFinder } from './webhooks/webhooks.ts';
import { saveWebhook, showWebhookForm, webhookDraft } from './webhooks/webhook-form.ts';

const publicGet = { method: 'GET', access: 'public' } as const;
const publicPost = { method: 'POST', access: 'public' } as const;
const viewerGet = { method: 'GET', access: 'signed-in', role: 'viewer' } as const;
const viewerPost = { method: 'POST', access: 'signed-in', role: 'viewer' } as const;
const editorGet = { method: 'GET', access: 'signed-in', role: 'editor' } as const;
const editorPost = { method: 'POST', access: 'signed-in', role: 'editor' } as const;
const ownerGet = { method: 'GET', access: 'signed-in', role: 'owner' } as const;
const ownerPost = { method: 'POST', access: 'signed-in', role: 'owner' } as const;
const filters = filterHandlers({
  products: searchFields,
  changes: () => CHANGE_FIELDS,
});

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
  { ...publicGet, path: '/sign-in/passkey', handle: reopenSignIn },
  { ...publicGet, path: '/sign-in/passkey/options', handle: sendSignInOptions },
  { ...publicPost, path: '/sign-in/passkey', handle: signInWithPasskey },
  { ...viewerPost, path: '/sign-out', handle: signOut },
  { ...publicPost, path: '/theme', handle: switchTheme },

  { ...viewerGet, path: '/', section: 'Overview', handle: showOverview },
  { ...viewerGet, path: '/search', handle: showSearch },
  { ...editorPost, path: '/filters', handle: filters.save },
  { ...editorPost, path: '/filters/delete', handle: filters.delete },

  { ...viewerGet, path: '/products', section: 'Products', handle: showProducts },
  ...formRoutes('editor', '/products/new', newProductForm),
  { ...editorPost, path: '/products/selection', handle: actOnSelection },
  { ...editorGet, path: '/products/grid', handle: showGrid },
  { ...editorPost, path: '/products/grid', handle: saveGrid, draft: gridDraft },
  { ...viewerGet, path: '/products/{id}', handle: showProduct },
  { ...editorPost, path: '/products/{id}', handle: editProduct, draft: editDraft },
  {
    ...editorPost, path: '/products/{id}/stock',
    handle: stocktakeForm.submit, draft: stocktakeForm.draft,
  },
  {
    ...editorPost, path: '/products/{id}/adjust',
    handle: adjustmentForm.submit, draft: adjustmentForm.draft,
  },
  { ...editorPost, path: '/products/{id}/archive', handle: archiveProduct },
  { ...editorGet, path: '/products/{id}/delete', handle: showDeletion },
  { ...editorPost, path: '/products/{id}/delete', handle: deleteProduct },
  { ...viewerGet, path: '/categories', handle: showCategories },
  ...formRoutes('editor', '/categories/rename', renameForm),

  { ...viewerGet, path: '/import', section: 'Import and export', handle: showImports },
  { ...viewerGet, path: '/export', handle: exportFile },
  { method: 'POST', access: 'upload', role: 'editor', path: '/import', handle: uploadFile },
  { ...editorPost, path: '/import/sample', handle: importSample },
  { ...editorGet, path: '/import/{id}', handle: showImport },
  { ...editorPost, path: '/import/{id}', handle: changeImport, draft: importDraft },
  { ...editorPost, path: '/import/{id}/commit', handle: commitImport },
  { ...editorPost, path: '/import/{id}/cancel', handle: cancelImport },
  { ...editorPost, path: '/import/{id}/discard', handle: discardImport },
  { ...editorGet, path: '/import/{id}/rejected', handle: downloadRejectedRows },
  { ...viewerGet, path: '/imports', handle: showRecords },
  { ...viewerGet, path: '/imports/{import_id}', handle: showRecord },
  { ...editorPost, path: '/imports/{import_id}/revert', handle: revertImport },

  { ...viewerGet, path: '/changes', section: 'Changes', handle: showChanges },
  { ...viewerGet, path: '/live', handle: followLive },
  { ...editorPost, path: '/changes/{position}/undo', handle: undoChange },
  { ...viewerGet, path: '/movements', handle: showMovements },
  { ...viewerGet, path: '/movements/export', handle: exportMovementList },

  { ...viewerGet, path: '/reports', section: 'Reports', handle: showReports },
  { ...viewerGet, path: '/reports/{report}', handle: downloadReport },

  { ...ownerGet, path: '/keys', section: 'API keys', handle: showKeys },
  ...formRoutes('owner', '/keys/new', keyForm),
  { ...ownerGet, path: '/keys/find', handle: showFindKey },
  { ...ownerPost, path: '/keys/find', handle: findKey },
  { ...ownerGet, path: '/keys/{key_id}', handle: showKey },
  { ...ownerPost, path: '/keys/{key_id}/rotate', handle: rotateKey },
  { ...ownerGet, path: '/keys/{key_id}/revoke', handle: showRevocation },
  { ...ownerPost, path: '/keys/{key_id}/revoke', handle: revokeKey },

  { ...ownerGet, path: '/leaked', handle: showLeaked },
  { ...ownerPost, path: '/leaked', handle: findLeaked },
  { ...ownerGet, path: '/leaked/{key_id}', handle: showLeakedKey },
  { ...ownerPost, path: '/leaked/{key_id}/revoke', handle: revokeLeaked },
  { ...ownerPost, path: '/leaked/{key_id}/replace', handle: replaceLeaked },
  { ...ownerPost, path: '/leaked/{key_id}/revert', handle: revertKeyChanges },

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

  { ...viewerGet, path: '/api', section: 'API', handle: showApi },
  { ...viewerGet, path: '/api/problems', handle: showProblems },
  { ...viewerGet, path: '/api/{operation}', handle: showOperation },

  { ...viewerGet, path: '/people', section: 'People', handle: showPeople },
  ...formRoutes('owner', '/people/new', inviteForm),
  { ...ownerPost, path: '/people/invitations/{invitation}/revoke', handle: revokeInvitation },
  { ...ownerGet, path: '/people/{account_id}', handle: showPerson },
  ...formRoutes('owner', '/people/{account_id}/name', personNameForm),
  ...formRoutes('owner', '/people/{account_id}/role', roleForm),
  ...formRoutes('owner', '/people/{account_id}/remove', removalForm),
  { ...ownerGet, path: '/activity', section: 'Activity', handle: showActivity },

  { ...editorGet, path: '/start', handle: showStart, section: 'Getting started' },
  { ...editorPost, path: '/start', handle: switchTour },
  { ...editorGet, path: '/start/progress', handle: showProgress, isPolled: true },

  { ...viewerGet, path: '/account', section: 'Account', handle: settingsForm.show },
  { ...viewerPost, path: '/account', handle: settingsForm.submit, draft: settingsForm.draft },
  ...formRoutes('editor', '/account/shop', shopForm),
  ...formRoutes('viewer', '/account/name', ownNameForm),
  ...formRoutes('viewer', '/account/email', emailForm),
  ...formRoutes('viewer', '/account/password', passwordForm),
  { ...viewerGet, path: '/account/two-factor', handle: showTwoFactor },
  { ...viewerPost, path: '/account/two-factor', handle: enableTwoFactor },
  { ...viewerPost, path: '/account/two-factor/codes', handle: makeRecoveryCodes },
  { ...viewerPost, path: '/account/two-factor/off', handle: turnOffForm.submit },
  { ...viewerGet, path: '/account/passkeys', handle: showPasskeys },
  { ...viewerPost, path: '/account/passkeys', handle: addPasskey },
  ...formRoutes('viewer', '/account/passkeys/new', newPasskeyForm),
  { ...viewerGet, path: '/account/passkeys/options', handle: sendConfirmationOptions },
  { ...viewerGet, path: '/account/passkeys/{passkey_id}', handle: renamePasskeyForm.show },
  { ...viewerPost, path: '/account/passkeys/{passkey_id}', handle: renamePasskeyForm.submit },
  ...formRoutes('viewer', '/account/passkeys/{passkey_id}/remove', removePasskeyForm),
  ...formRoutes('viewer', '/account/password-sign-in', passwordSignInForm),
  { ...viewerGet, path: '/account/sessions', handle: showSessions },
  { ...viewerPost, path: '/account/sessions', handle: endSessions },
];

/** One line each. */
export const additions: readonly Addition[] = [
  { notice: renderWebhookBanner },
  { finder: webhookFinder },
];

/** A form's page and its submission; without a draft if its fields are secrets. */
function formRoutes(
  role: Role, path: string, { show, submit, draft }: FormHandlers,
): readonly PageRoute[] {
  const page = { path, access: 'signed-in', role } as const;
  const hasDraft = draft.fields.length > 0;
  return [
    { ...page, method: 'GET', handle: show },
    { ...page, method: 'POST', handle: submit, ...(hasDraft && { draft }) },
  ];
}
