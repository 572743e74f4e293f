/** One import: a preview that can be changed, then its progress, then what came of it. */
import { AppError } from '../../../domain/error.ts';
import { formatAttachment, type Reply } from '../../../http/response/reply.ts';
import { errorSummary, postForm } from '../forms/fields.ts';
import { type Form, NO_ERRORS } from '../forms/form.ts';
import { type Content, html } from '../html/html.ts';
import { Imports } from './imports.ts';
import type { ProductImport } from './product-import.ts';
import type { ImportSettings } from './row-reading.ts';
import { IMPORT_SETTLE_MS, UPLOADS_KEPT_LIMIT_BYTES } from '../limits.ts';
import { redirect, renderPage } from '../html/page.ts';
import type { DraftRoute, Portal, PageRequest } from '../route.ts';
import { findWholeNumber } from '../forms/typed-values.ts';
import { renderPreview } from './preview-page.ts';
import { renderProgress, renderResult } from './progress-page.ts';
import { readSettings, renderColumns, renderSettings, SETTINGS_FIELDS } from './settings-page.ts';

/** The imports of a portal. */
export function productImports(
  { store, imports: slots, report, clock, uploadFolder }: Portal,
): Imports {
  return new Imports({
    store, slots, folder: uploadFolder, keptLimitBytes: UPLOADS_KEPT_LIMIT_BYTES, report, clock,
  });
}

/** GET /portal/import/{id}: 200, 404 */
export async function showImport(request: PageRequest, portal: Portal): Promise<Reply> {
  return renderImport(request, portal, find(request, portal));
}

/** POST /portal/import/{id}: 303, 404 */
export async function tryImport(request: PageRequest, portal: Portal, form: Form): Promise<Reply> {
  const one = find(request, portal);
  one.try(readSettings(form, one));
  return settle(request, one);
}

export const importDraft: DraftRoute = {
  fields: SETTINGS_FIELDS,
  async show(request, portal, form) {
    const one = find(request, portal);
    return renderImport(request, portal, one, { settings: readSettings(form, one) });
  },
};

/** POST /portal/import/{id}/commit: 303, 404, 409, 503 */
export async function commitImport(
  request: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const one = find(request, portal);
  try {
    const hasBegun = one.commit(findWholeNumber(form.get('revision')));
    if (hasBegun || one.phase !== 'ready') return await settle(request, one);
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'unavailable')) throw error;
    return renderImport(request, portal, one, { status: 503, fault: error.publicDetail });
  }
  const fault = 'The import settings have changed since you opened this page. Nothing was '
    + 'imported. Check the new preview.';
  return renderImport(request, portal, one, { status: 409, fault });
}

/** POST /portal/import/{id}/cancel: 303, 404 */
export async function cancelImport(request: PageRequest, portal: Portal): Promise<Reply> {
  const one = find(request, portal);
  if (one.phase === 'importing') one.cancel();
  return settle(request, one);
}

/** POST /portal/import/{id}/discard: 303, 404 */
export async function discardImport(
  request: PageRequest, { pageInstances }: Portal,
): Promise<Reply> {
  const { account, parameters, link } = request;
  await pageInstances.get(productImports).discard(account.sellerId, parameters['id'] ?? '');
  return redirect(link('/import'));
}

/** GET /portal/import/{id}/refused: 200, 404 */
export async function readRefusedRows(request: PageRequest, portal: Portal): Promise<Reply> {
  const { isBusy, refused: { file }, upload: { name, head } } = find(request, portal);
  if (isBusy || !file) throw new AppError('not_found', 'There is no file of rejected rows.');
  const stem = name.replace(/\.\w{1,6}$/, '');
  return request.openStream('export', async () => ({
    status: 200,
    headers: {
      'content-type': head.format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson',
      'content-disposition': formatAttachment(`${stem}.failed.${head.format}`),
      'cache-control': 'no-store',
    },
    body: file.read(),
  }));
}

/** To the page of the import, which most have come to the end of by then. */
export async function settle({ link }: PageRequest, one: ProductImport): Promise<Reply> {
  await one.settle(IMPORT_SETTLE_MS);
  return redirect(link(`/import/${one.id}`));
}

function find({ account, parameters }: PageRequest, { pageInstances }: Portal): ProductImport {
  return pageInstances.get(productImports).get(account.sellerId, parameters['id'] ?? '');
}

const TITLES: Readonly<Record<ProductImport['phase'], string>> = {
  trying: 'Preview of', ready: 'Preview of', importing: 'Importing', done: 'Imported:',
  cancelled: 'Cancelled:', broken: 'Failed:',
};

function renderImport(
  request: PageRequest, portal: Portal, one: ProductImport,
  { status = 200, fault, settings = one.settings }: {
    readonly status?: number; readonly fault?: string; readonly settings?: ImportSettings;
  } = {},
): Reply {
  return renderPage(request, portal, {
    title: `${TITLES[one.phase]} ${one.upload.name}`,
    status,
    content: html`${errorSummary(NO_ERRORS, fault)}${renderPhase(request, one, settings)}`,
    scripts: ['import.js'],
  });
}

function renderPhase(request: PageRequest, one: ProductImport, settings: ImportSettings): Content {
  const { phase } = one;
  const act = (name: string, label: string): Content => {
    const button = html`<button class="plain">${label}</button>`;
    return postForm(request, request.link(`/import/${one.id}/${name}`), button, '');
  };
  if (one.isBusy) {
    return html`${renderProgress(request, one)}
      <p class="quiet">You can leave this page; the work continues. If the server restarts,
        imported products are kept, but this page is lost.</p>
      <div class="actions">${phase === 'trying' ? act('discard', 'Discard file')
    : act('cancel', 'Cancel import')}</div>`;
  }
  if (phase === 'ready') {
    return html`${renderPreview(request, one)}${renderSettings(request, one, settings)}
      ${renderColumns(one)}
      <div class="actions">${act('discard', 'Discard file')}</div>`;
  }
  return html`${renderResult(request, one)}
    <div class="actions">
      <a class="button main" href="${request.link('/products')}">View products</a>
      <a class="button" href="${request.link('/import')}">Import another file</a>
    </div>`;
}
