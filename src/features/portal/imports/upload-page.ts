/** Import and export: where a file is uploaded, the imports of this process, and the export. */
import { AppError } from '../../../domain/error.ts';
import { PORTAL_KEY_ID } from '../../../domain/id.ts';
import { type FormPart, openForm, readField } from '../../../http/request/multipart.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { assertCsrfToken, CSRF_FIELD } from '../forms/csrf.ts';
import { flashNotice, numeric, table } from '../html/elements.ts';
import { errorSummary } from '../forms/fields.ts';
import { type FieldErrors, NO_ERRORS } from '../forms/form.ts';
import { html, type Html } from '../html/html.ts';
import type { ProductImport } from './product-import.ts';
import { watchUpload } from './watched-upload.ts';
import {
  CSRF_TOKEN_LIMIT_BYTES, FILE_NAME_LIMIT_CHARACTERS, UPLOAD_LIMIT_BYTES,
} from '../limits.ts';
import { renderPage } from '../html/page.ts';
import type { Portal, PageRequest } from '../route.ts';
import { assertSignedIn } from '../sign-in/session.ts';
import { renderExport } from '../products/export-file.ts';
import { productImports, settle } from './import-page.ts';
import { formatSize } from './progress-page.ts';

/** Said beside the file, and not on a page of their own. */
const FAULTS_OF_FILE: readonly unknown[] = ['invalid_data', 'body_too_large'];

const DONE = new Map([
  ['ended', 'Your session ended before the file was uploaded. Choose the file again.'],
]);

/** GET /portal/import: 200 */
export async function showImports(request: PageRequest, portal: Portal): Promise<Reply> {
  return renderImports(request, portal, NO_ERRORS);
}

/** POST /portal/import: 303, 403, 408, 415, 422, 503, 507 */
export async function uploadFile(
  request: PageRequest, portal: Portal, secret: string,
): Promise<Reply> {
  try {
    return await settle(request, await receive(request, portal, secret));
  } catch (error) {
    if (!(error instanceof AppError && FAULTS_OF_FILE.includes(error.code))) throw error;
    return renderImports(request, portal, new Map([['file', error.publicDetail]]));
  }
}

/** Takes the file once the token before it was checked. */
async function receive(
  request: PageRequest, { pageInstances }: Portal, secret: string,
): Promise<ProductImport> {
  const { incoming, account } = request;
  let token = '';
  for await (const part of openForm(incoming)) {
    if (part.name === CSRF_FIELD) token = await readField(part, CSRF_TOKEN_LIMIT_BYTES);
    if (part.name !== 'file') continue;
    assertCsrfToken(secret, token);
    const { sellerId, currency } = account;
    const importer = { sellerId, currency, keyId: PORTAL_KEY_ID };
    const content = watchUpload(part.content, () => assertSignedIn(request));
    return await pageInstances.get(productImports).receive(importer, readName(part), content);
  }
  throw new AppError('invalid_data', 'Choose a file.');
}

/** The name of a file, without its path and without what would not be seen. */
function readName({ fileName = '' }: FormPart): string {
  const name = fileName.replace(/^.*[/\\]/s, '').replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '');
  if (name.trim() === '') throw new AppError('invalid_data', 'Choose a file.');
  return name.slice(0, FILE_NAME_LIMIT_CHARACTERS).toWellFormed();
}

function renderImports(request: PageRequest, portal: Portal, errors: FieldErrors): Reply {
  return renderPage(request, portal, {
    title: 'Import and export',
    status: errors.size === 0 ? 200 : 422,
    content: html`${flashNotice(request, DONE)}${errorSummary(errors)}
      ${renderUpload(request, errors)}
      ${renderRecent(request, portal)}
      ${renderExport(request)}`,
    scripts: ['import.js'],
  });
}

function renderUpload({ link, csrfToken, format }: PageRequest, errors: FieldErrors): Html {
  const fault = errors.get('file');
  const described = fault === undefined ? 'field-file-hint' : 'field-file-hint field-file-fault';
  const most = formatSize(format, UPLOAD_LIMIT_BYTES);
  return html`<section class="card" aria-labelledby="import"><h2 id="import">Import products</h2>
    <form method="post" action="${link('/import')}" enctype="multipart/form-data" class="stack drop"
      id="upload" data-limit="${UPLOAD_LIMIT_BYTES}" data-most="${most}">
      <input type="hidden" name="${CSRF_FIELD}" value="${csrfToken}">
      <div class="field">
        <label for="field-file">Product file</label>
        <input type="file" id="field-file" name="file" required aria-describedby="${described}"
          accept=".csv,.tsv,.txt,.ndjson,.jsonl,text/csv,application/x-ndjson"${
  fault !== undefined && html` aria-invalid="true"`}>
        <p class="hint" id="field-file-hint">CSV (from a spreadsheet, Shopify, WooCommerce or
          Magento) or NDJSON, up to ${most}. You see a preview before anything is changed.</p>
        ${fault !== undefined && html`<p class="fault" id="field-file-fault">${fault}</p>`}
      </div>
      <div id="upload-progress" hidden>
        <label for="upload-bar">Uploading</label>
        <progress id="upload-bar" max="100" value="0"></progress>
      </div>
      <p class="fault" id="upload-fault" role="alert" hidden></p>
      <button>Upload and preview</button>
    </form>
  </section>`;
}

const PHASES: Readonly<Record<ProductImport['phase'], Html>> = {
  trying: html`<span class="tag">Checking</span>`,
  ready: html`<span class="tag low">Ready to import</span>`,
  importing: html`<span class="tag">Importing</span>`,
  done: html`<span class="tag good">Imported</span>`,
  cancelled: html`<span class="tag low">Cancelled</span>`,
  broken: html`<span class="tag bad">Failed</span>`,
};

function renderRecent({ account, format, link }: PageRequest, { pageInstances }: Portal): Html {
  return html`<h2>Recent imports</h2>${table({
    caption: 'Recent imports',
    columns: ['File', 'Status', numeric('Rows'), numeric('Rejected'), 'Updated'],
    rows: pageInstances.get(productImports).list(account.sellerId).map((one) => [
      html`<a href="${link(`/import/${one.id}`)}">${one.upload.name}</a>`,
      PHASES[one.phase],
      format.number(one.progress.rows),
      format.number(one.progress.counts.failed),
      format.timeElement(one.touchedAt),
    ]),
    empty: html`<p>No imports in the last 24 hours. Upload a file above to preview what it would
      change.</p>`,
  })}`;
}
