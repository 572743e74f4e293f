/** The page of one import: a preview with editable settings, then progress, then the result. */
import { AppError } from '../../../domain/error.ts';
import { formatAttachment, type Reply } from '../../../http/response/reply.ts';
import { errorSummary, postForm } from '../forms/fields.ts';
import { type Form, NO_ERRORS } from '../forms/form.ts';
import { findWholeNumber } from '../forms/typed-values.ts';
import { type Content, html } from '../html/html.ts';
import { redirect, renderPage } from '../html/page.ts';
import { IMPORT_SETTLE_MS } from '../limits.ts';
import type { DraftRoute, PageRequest, Portal } from '../route.ts';
import type { ImportJob, ImportTask } from './import-job.ts';
import { ImportJobs } from './import-jobs.ts';
import { readSettings, SETTINGS_FIELDS } from './import-settings.ts';
import { viewProducts } from './import-view.ts';
import { PHASES, renderProgress } from './job-view.ts';

/** The portal's import jobs. */
export function getImportJobs({ pageInstances }: Portal): ImportJobs {
  return pageInstances.get(createImportJobs);
}

function createImportJobs(portal: Portal): ImportJobs {
  return new ImportJobs(portal);
}

/** GET /portal/import/{id}: 200, 404 */
export async function showImport(request: PageRequest, portal: Portal): Promise<Reply> {
  return renderImport(request, portal, getJob(request, portal));
}

/** POST /portal/import/{id}: 303, 404 */
export async function changeImport(
  request: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const job = getJob(request, portal);
  job.dryRun(readTask(form, job));
  return redirectToJob(request, job);
}

export const importDraft: DraftRoute = {
  fields: SETTINGS_FIELDS,
  async show(request, portal, form) {
    const job = getJob(request, portal);
    return renderImport(request, portal, job, undefined, 200, readTask(form, job));
  },
};

/** The job's task with the settings of the form. */
function readTask(form: Form, { state: { task } }: ImportJob): ImportTask {
  return task.withSettings(readSettings(form, task));
}

/** POST /portal/import/{id}/commit: 303, 404, 409, 503 */
export async function commitImport(
  request: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const job = getJob(request, portal);
  try {
    const hasStarted = job.commit(findWholeNumber(form.get('revision')));
    if (hasStarted || job.state.phase !== 'ready') return await redirectToJob(request, job);
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'unavailable')) throw error;
    return renderImport(request, portal, job, error.publicDetail, 503);
  }
  const problem = 'The import settings have changed since you opened this page. Nothing was '
    + 'imported. Check the new preview.';
  return renderImport(request, portal, job, problem, 409);
}

/** POST /portal/import/{id}/cancel: 303, 404 */
export async function cancelImport(request: PageRequest, portal: Portal): Promise<Reply> {
  const job = getJob(request, portal);
  if (job.state.phase === 'importing') job.cancel();
  return redirectToJob(request, job);
}

/** POST /portal/import/{id}/discard: 303, 404 */
export async function discardImport(
  { account, parameters, link }: PageRequest, portal: Portal,
): Promise<Reply> {
  await getImportJobs(portal).discard(account.sellerId, parameters['id'] ?? '');
  return redirect(link('/import'));
}

/** GET /portal/import/{id}/refused: 200, 404 */
export async function downloadRejectedRows(request: PageRequest, portal: Portal): Promise<Reply> {
  const { isRunning, state: { task } } = getJob(request, portal);
  const { head, name, rejected } = task.upload;
  const file = rejected?.file;
  if (isRunning || !file) throw new AppError('not_found', 'This import has no rejected rows.');
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

/** Redirects to an import's page after a short wait, in which most runs end. */
export async function redirectToJob({ link }: PageRequest, job: ImportJob): Promise<Reply> {
  await job.waitUntilIdle(IMPORT_SETTLE_MS);
  return redirect(link(`/import/${job.id}`));
}

function getJob({ account, parameters }: PageRequest, portal: Portal): ImportJob {
  return getImportJobs(portal).get(account.sellerId, parameters['id'] ?? '');
}

/** @param shown The task whose settings the form shows. */
function renderImport(
  request: PageRequest, portal: Portal, job: ImportJob,
  problem?: string, status = 200, shown = job.state.task,
): Reply {
  const { phase, task } = job.state;
  return renderPage(request, portal, {
    title: `${PHASES[phase][0]} ${task.upload.name}`,
    status,
    content: html`${errorSummary({ errors: NO_ERRORS, detail: problem })}
      ${renderPhase(request, job, shown)}`,
    scripts: ['import.js'],
  });
}

function renderPhase(request: PageRequest, job: ImportJob, shown: ImportTask): Content {
  const { phase, task } = job.state;
  const view = viewProducts(request, job, task);
  const button = (action: string, label: string): Content => postForm(
    request, request.link(`/import/${job.id}/${action}`),
    html`<button class="plain">${label}</button>`, '',
  );
  if (job.isRunning) {
    return html`${renderProgress(request, job, view)}
      <p class="quiet">You can leave this page; the import continues. If the server restarts,
        imported products are kept, but this page is lost.</p>
      <div class="actions">${phase === 'checking' ? button('discard', 'Discard file')
    : button('cancel', 'Cancel import')}</div>`;
  }
  if (phase === 'ready') {
    return html`${view.preview(shown, NO_ERRORS)}
      <div class="actions">${button('discard', 'Discard file')}</div>`;
  }
  return html`${view.result()}
    <div class="actions">
      <a class="button main" href="${request.link('/products')}">View products</a>
      <a class="button" href="${request.link('/import')}">Import another file</a>
    </div>`;
}
