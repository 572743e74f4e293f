/** The pages of imports, of bulk edits and of reverts. */
import {
  editorGet, editorPost, formRoutes, ownerPost, type PortalPart, viewerGet,
} from '../page-routes.ts';
import { actOnSelection, renameForm } from './bulk/bulk-page.ts';
import {
  cancelImport, changeImport, commitImport, discardImport, downloadRejectedRows, importDraft,
  showImport,
} from './import-page.ts';
import { revertImport, revertKeyChanges } from './revert/revert-page.ts';
import { importSample, showImports, uploadFile } from './upload-page.ts';

export const importPages: PortalPart = {
  routes: [
    { ...editorPost, path: '/products/selection', handle: actOnSelection },
    ...formRoutes('editor', '/categories/rename', renameForm),
    { ...viewerGet, path: '/import', section: 'Import and export', handle: showImports },
    { method: 'POST', access: 'upload', role: 'editor', path: '/import', handle: uploadFile },
    { ...editorPost, path: '/import/sample', handle: importSample },
    { ...editorGet, path: '/import/{id}', handle: showImport },
    { ...editorPost, path: '/import/{id}', handle: changeImport, draft: importDraft },
    { ...editorPost, path: '/import/{id}/commit', handle: commitImport },
    { ...editorPost, path: '/import/{id}/cancel', handle: cancelImport },
    { ...editorPost, path: '/import/{id}/discard', handle: discardImport },
    { ...editorGet, path: '/import/{id}/rejected', handle: downloadRejectedRows },
    { ...editorPost, path: '/imports/{import_id}/revert', handle: revertImport },
    { ...ownerPost, path: '/leaked/{key_id}/revert', handle: revertKeyChanges },
  ],
};
