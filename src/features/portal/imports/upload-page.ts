/**
 * The import and export page: the upload form, recent imports, and the export form. Shops that want
 * to try the portal first import the sample catalogue, which is an import like any other.
 */
import { Readable } from 'node:stream';
import { WORKBOOK_TYPE } from '../../../api/media-types.ts';
import { AppError } from '../../../domain/error.ts';
import { type FormPart, openForm, readField } from '../../../http/request/multipart.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { readAsset } from '../../../runtime/asset.ts';
import { assertCsrfToken, CSRF_FIELD } from '../forms/csrf.ts';
import { errorSummary, type Field, renderFields } from '../forms/fields.ts';
import { type FieldErrors, hiddenField, initialState, NO_ERRORS } from '../forms/form.ts';
import { card, flashNotice, numeric, table } from '../html/elements.ts';
import { html, type Html } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import {
  CSRF_TOKEN_LIMIT_BYTES, FILE_NAME_LIMIT_CHARACTERS, UPLOAD_LIMIT_BYTES,
} from '../limits.ts';
import { renderExport } from '../products/export-file.ts';
import { renderRecords } from '../records/records.ts';
import type { PageRequest, Portal, Submit, UploadPage } from '../route.ts';
import { readUploadOptions, toFields, UPLOAD_FIELDS } from './csv-fields.ts';
import type { ImportJob } from './import-job.ts';
import { getImportJobs, redirectToJob, toImporter, viewTask } from './import-page.ts';
import { formatSize, renderPhaseTag } from './job-view.ts';
import { guardUpload } from './uploaded-file.ts';

const SAMPLE = readAsset(new URL('../../../../data/sample-catalogue.csv', import.meta.url));
/** Newest records on the page; the others have a page of their own. */
const RECORDS_SHOWN = 5;
const OPTION_LIMIT_BYTES = 200;
/** Error codes that are shown at the file field. */
const FILE_ERRORS: readonly unknown[] = ['invalid_data', 'body_too_large'];

const FIELD_NAMES = ['file', ...UPLOAD_FIELDS.map(({ name }) => name)];

const FLASH = new Map([
  ['ended', 'Your session ended before the file was uploaded. Choose the file again.'],
]);

/** POST /portal/import: 303, 403, 408, 415, 422, 503, 507 */
export const uploadFile: UploadPage['handle'] = async (request, portal, secret) => {
  try {
    return await redirectToJob(request, await receive(request, portal, secret));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const errors = FILE_ERRORS.includes(error.code) ? [['file', error.publicDetail] as const]
      : error.issues.map(({ parameter = '', detail }) => [parameter, detail] as const);
    const isShown = errors.length > 0 && errors.every(([name]) => FIELD_NAMES.includes(name));
    if (!isShown) throw error;
    return await showImports(request, portal, new Map(errors.map(([name, detail]) =>
      [name, toFields(detail)])));
  }
};

/** POST /portal/import/sample: 303, 503. Opens the preview of the sample catalogue. */
export const importSample: Submit = async (request, portal) => {
  const content = Readable.from([Buffer.from(SAMPLE)]);
  return redirectToJob(request, await getImportJobs(portal)
    .receive(toImporter(request), 'sample-catalogue.csv', content));
};

/** Checks the CSRF token, which the form sends first, then reads the file. */
async function receive(
  request: PageRequest, portal: Portal, secret: string,
): Promise<ImportJob> {
  let token = '';
  const fields = new Map<string, string>();
  for await (const part of openForm(request.incoming)) {
    if (part.name === CSRF_FIELD) token = await readField(part, CSRF_TOKEN_LIMIT_BYTES);
    const isOption = UPLOAD_FIELDS.some(({ name }) => name === part.name);
    if (isOption) fields.set(part.name, await readField(part, OPTION_LIMIT_BYTES));
    if (part.name !== 'file') continue;
    assertCsrfToken(secret, token);
    const content = guardUpload(part.content, request.reauthorize);
    return await getImportJobs(portal).receive(
      toImporter(request), readName(part), content, readUploadOptions(fields),
    );
  }
  throw new AppError('invalid_data', 'Choose a file.');
}

/** The file name without path and invisible characters. */
function readName({ fileName = '' }: FormPart): string {
  const name = fileName.replace(/^.*[/\\]/s, '').replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '');
  if (name.trim() === '') throw new AppError('invalid_data', 'Choose a file.');
  return name.slice(0, FILE_NAME_LIMIT_CHARACTERS).toWellFormed();
}

/** GET /portal/import: 200. @param errors Of a file that was rejected. */
export async function showImports(
  request: PageRequest, portal: Portal, errors: FieldErrors = NO_ERRORS,
): Promise<Reply> {
  const { account: { sellerId }, link } = request;
  const records = await portal.store.listImports(sellerId, {
    before: undefined, limit: RECORDS_SHOWN,
  });
  return renderPage(request, portal, {
    title: 'Import and export',
    status: errors.size === 0 ? 200 : 422,
    content: html`${flashNotice(request, FLASH)}${errorSummary({ errors })}
      ${request.may('editor') && html`${renderUpload(request, errors)}
        ${await renderRecent(request, portal)}`}
      ${records.length > 0 && html`<h2>Latest imports and stock syncs</h2>
      ${await renderRecords(request, portal, records)}
      <p><a href="${link('/imports')}">All imports and stock syncs</a></p>`}
      ${renderExport(request)}`,
    scripts: ['import.js'],
  });
}

function renderUpload({ link, csrfToken, format }: PageRequest, errors: FieldErrors): Html {
  const limit = formatSize(format, UPLOAD_LIMIT_BYTES);
  const file: Field = {
    name: 'file', label: 'Product or stock file', type: 'file', isRequired: true,
    accept: `.csv,.tsv,.txt,.xlsx,.ndjson,.jsonl,text/csv,application/x-ndjson,${WORKBOOK_TYPE}`,
    hint: `CSV (from a shop, till or ERP), an Excel workbook (.xlsx) or NDJSON, up to ${limit}. `
      + 'You can preview the changes before you import.',
  };
  return card('import', 'Import products or stock', html`
    <form method="post" action="${link('/import')}" enctype="multipart/form-data" class="stack drop"
      id="upload" data-limit="${UPLOAD_LIMIT_BYTES}" data-most="${limit}">
      ${hiddenField(CSRF_FIELD, csrfToken)}
      ${renderFields([...UPLOAD_FIELDS, file], { ...initialState(), errors })}
      <div id="upload-progress" hidden>
        <label for="upload-bar">Uploading</label>
        <progress id="upload-bar" max="100" value="0"></progress>
      </div>
      <p class="fault" id="upload-fault" role="alert" hidden></p>
      <button class="primary">Upload and preview</button>
    </form>`);
}

async function renderRecent(request: PageRequest, portal: Portal): Promise<Html> {
  const { account, format, link } = request;
  const jobs = await getImportJobs(portal).list(account.sellerId);
  return html`<h2>Recent uploads</h2>${table({
    caption: 'Recent uploads',
    columns: ['File', 'Status', numeric('Rows'), numeric('Rejected'), 'Updated'],
    rows: jobs.map(({ description }) => {
      const { id, phase, updatedAt, task: { progress } } = description;
      const { name, words, rejected } = viewTask(request, description);
      return [
        html`<a href="${link(`/import/${id}`)}">${name}</a>`,
        renderPhaseTag(phase, words),
        format.number(progress.processed),
        format.number(rejected),
        format.timeElement(updatedAt),
      ];
    }),
    empty: html`<p>No uploads in the last 24 hours. Upload a file above to preview its
      changes.</p>`,
  })}`;
}
