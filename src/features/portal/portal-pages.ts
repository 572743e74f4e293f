/**
 * The pages that every portal has; paths are below `/portal`. Three lists, since the navigation has
 * the pages of features between them.
 */
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
import { undoChange } from './history/undo.ts';
import { keyForm, revocationForm, rotateKey } from './keys/key-form.ts';
import { findKey, showFindKey, showKey, showKeys } from './keys/keys.ts';
import {
  findLeaked, replaceLeaked, revokeLeaked, showLeaked, showLeakedKey,
} from './keys/leaked.ts';
import { showOverview } from './overview/overview.ts';
import {
  editorGet, editorPost, formRoutes, ownerGet, ownerPost, type PortalPart, publicGet, publicPost,
  submission, viewerGet, viewerPost,
} from './page-routes.ts';
import {
  inviteForm, ownNameForm, personNameForm, removalForm, requirementForm, revokeInvitation, roleForm,
  showPeople, showPerson, signOutPerson,
} from './people/people.ts';
import { exportFile } from './products/export-file.ts';
import { gridDraft, saveGrid, showGrid } from './products/grid/grid.ts';
import { newProductForm } from './products/product-form.ts';
import { showProducts } from './products/product-list.ts';
import { searchFields } from './products/product-search.ts';
import { archiveProduct } from './products/product-view.ts';
import {
  adjustmentForm, deletionForm, editDraft, editProduct, showProduct, stocktakeForm,
} from './products/product.ts';
import { showRecord, showRecords } from './records/records.ts';
import { downloadReport, showReports } from './reports/reports.ts';
import type { AnonymousPageRequest, Portal } from './route.ts';
import { showSearch } from './search/search.ts';
import { join, showJoin } from './sign-in/join.ts';
import {
  reopenSignIn, sendConfirmationOptions, sendSignInOptions, showSignIn, showSignInCode, signIn,
  signInWithCode, signInWithPasskey, signOut,
} from './sign-in/sign-in.ts';
import { switchTheme } from './sign-in/theme.ts';
import { showProgress, showStart, switchTour } from './start/tour.ts';

/** Sign-in, and the catalogue: products, categories, records of imports. */
export const cataloguePages: PortalPart = {
  routes: [
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

    { ...viewerGet, path: '/products', section: 'Products', handle: showProducts },
    ...formRoutes('editor', '/products/new', newProductForm),
    { ...editorGet, path: '/products/grid', handle: showGrid },
    { ...editorPost, path: '/products/grid', handle: saveGrid, draft: gridDraft },
    { ...viewerGet, path: '/products/{id}', handle: showProduct },
    { ...editorPost, path: '/products/{id}', handle: editProduct, draft: editDraft },
    submission('editor', '/products/{id}/stock', stocktakeForm),
    submission('editor', '/products/{id}/adjust', adjustmentForm),
    { ...editorPost, path: '/products/{id}/archive', handle: archiveProduct },
    ...formRoutes('editor', '/products/{id}/delete', deletionForm),
    { ...viewerGet, path: '/categories', handle: showCategories },

    { ...viewerGet, path: '/export', handle: exportFile },
    { ...viewerGet, path: '/imports', handle: showRecords },
    { ...viewerGet, path: '/imports/{import_id}', handle: showRecord },
    { ...editorPost, path: '/changes/{position}/undo', handle: undoChange },
  ],
  filters: { products: searchFields },
};

/** Reports and API keys. */
export const accessPages: PortalPart = {
  routes: [
    { ...viewerGet, path: '/reports', section: 'Reports', handle: showReports },
    { ...viewerGet, path: '/reports/{report}', handle: downloadReport },

    { ...ownerGet, path: '/keys', section: 'API keys', handle: showKeys },
    ...formRoutes('owner', '/keys/new', keyForm),
    ...formRoutes('owner', '/keys/find', { show: showFindKey, submit: findKey }),
    { ...ownerGet, path: '/keys/{key_id}', handle: showKey },
    { ...ownerPost, path: '/keys/{key_id}/rotate', handle: rotateKey },
    ...formRoutes('owner', '/keys/{key_id}/revoke', revocationForm),

    ...formRoutes('owner', '/leaked', { show: showLeaked, submit: findLeaked }),
    { ...ownerGet, path: '/leaked/{key_id}', handle: showLeakedKey },
    { ...ownerPost, path: '/leaked/{key_id}/revoke', handle: revokeLeaked },
    { ...ownerPost, path: '/leaked/{key_id}/replace', handle: replaceLeaked },
  ],
};

/** People, and the account of each. */
export const teamPages: PortalPart = {
  routes: [
    { ...viewerGet, path: '/people', section: 'People', handle: showPeople },
    ...formRoutes('owner', '/people/new', inviteForm),
    { ...ownerPost, path: '/people/invitations/{invitation}/revoke', handle: revokeInvitation },
    ...formRoutes('owner', '/people/two-factor', requirementForm),
    { ...ownerGet, path: '/people/{account_id}', handle: showPerson },
    { ...ownerPost, path: '/people/{account_id}/sign-out', handle: signOutPerson },
    ...formRoutes('owner', '/people/{account_id}/name', personNameForm),
    ...formRoutes('owner', '/people/{account_id}/role', roleForm),
    ...formRoutes('owner', '/people/{account_id}/remove', removalForm),
    { ...ownerGet, path: '/activity', section: 'Activity', handle: showActivity },

    { ...editorGet, path: '/start', handle: showStart, section: 'Getting started' },
    { ...editorPost, path: '/start', handle: switchTour },
    { ...editorGet, path: '/start/progress', handle: showProgress, isPolled: true },

    { ...viewerGet, path: '/account', section: 'Account', handle: settingsForm.show },
    submission('viewer', '/account', settingsForm),
    ...formRoutes('editor', '/account/shop', shopForm),
    ...formRoutes('viewer', '/account/name', ownNameForm),
    ...formRoutes('viewer', '/account/email', emailForm),
    ...formRoutes('viewer', '/account/password', passwordForm),
    { ...viewerGet, path: '/account/two-factor', handle: showTwoFactor },
    { ...viewerPost, path: '/account/two-factor', handle: enableTwoFactor },
    { ...viewerPost, path: '/account/two-factor/codes', handle: makeRecoveryCodes },
    submission('viewer', '/account/two-factor/off', turnOffForm),
    ...formRoutes('viewer', '/account/passkeys', { show: showPasskeys, submit: addPasskey }),
    ...formRoutes('viewer', '/account/passkeys/new', newPasskeyForm),
    { ...viewerGet, path: '/account/passkeys/options', handle: sendConfirmationOptions },
    { ...viewerGet, path: '/account/passkeys/{passkey_id}', handle: renamePasskeyForm.show },
    { ...viewerPost, path: '/account/passkeys/{passkey_id}', handle: renamePasskeyForm.submit },
    ...formRoutes('viewer', '/account/passkeys/{passkey_id}/remove', removePasskeyForm),
    ...formRoutes('viewer', '/account/password-sign-in', passwordSignInForm),
    ...formRoutes('viewer', '/account/sessions', { show: showSessions, submit: endSessions }),
  ],
};
