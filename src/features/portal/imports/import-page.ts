/** The page of one job: a preview with editable settings, then progress, then the result. */
import { AppError } from '../../../domain/error.ts';
import { formatAttachment, type Reply } from '../../../http/response/reply.ts';
import { recognizeContent } from '../../../transfer/columns.ts';
import { nameRejectedRows } from '../../../transfer/header.ts';
import { postForm } from '../forms/fields.ts';
import { type FormState, hiddenField, initialState, NO_ERRORS, toActor } from '../forms/form.ts';
import { findWholeNumber } from '../forms/typed-values.ts';
import { card } from '../html/elements.ts';
import { type Content, html } from '../html/html.ts';
import { redirect, renderPage } from '../html/page.ts';
import { IMPORT_SETTLE_MS } from '../limits.ts';
import type { DraftRoute, PageRequest, Portal, Show, Submit } from '../route.ts';
import type { ImportJob } from './import-job.ts';
import { ImportJobs } from './import-jobs.ts';
import { type Importer, isRunning, type JobDescription, type TaskView } from './job-kind.ts';
import { type JobTask, kindOf, readTask, SETTINGS_FIELDS } from './job-kinds.ts';
import { renderProgress, renderResult } from './job-view.ts';

/** The portal's import jobs. */
export function getImportJobs({ pageInstances }: Portal): ImportJobs {
  return pageInstances.get(createImportJobs);
}

function createImportJobs(portal: Portal): ImportJobs {
  return new ImportJobs(portal);
}

/** Who uploads, previews or starts. */
export function toImporter(request: PageRequest): Importer {
  return { ...toActor(request), currency: request.account.currency };
}

/** GET /portal/import/{id}: 200, 404 */
export const showImport: Show = async (request, portal) =>
  renderImport(request, portal, (await getJob(request, portal)).description);

/** POST /portal/import/{id}: 303, 404 */
export const changeImport: Submit = async (request, portal, form) => {
  const job = await getJob(request, portal);
  const errors = new Map<string, string>();
  const task = await readTask(form, job.state.task, job.run, errors);
  if (errors.size > 0) return renderImport(request, portal, job.description, { form, errors });
  await job.dryRun(task);
  return redirectToJob(request, job);
};

export const importDraft: DraftRoute = {
  fields: SETTINGS_FIELDS,
  async show(request, portal, form) {
    const job = (await getJob(request, portal)).description;
    const isShown = form.get('kind') === job.task.kind;
    return renderImport(request, portal, job, isShown ? { form, errors: NO_ERRORS } : undefined);
  },
};

/** POST /portal/import/{id}/commit: 303, 404, 409, 422, 503 */
export const commitImport: Submit = async (request, portal, form) => {
  const job = await getJob(request, portal);
  const { task } = job.description;
  const errors = kindOf(task).validateStart?.(form, task) ?? NO_ERRORS;
  if (errors.size > 0) return renderImport(request, portal, job.description, { form, errors });
  try {
    const hasStarted = await job.commit(findWholeNumber(form.get('revision')), toImporter(request));
    if (hasStarted) return await redirectToJob(request, job);
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'unavailable')) throw error;
    return renderImport(request, portal, job.description, {
      ...initialState(), detail: error.publicDetail, status: 503,
    });
  }
  // Another request may have started it since.
  const { description } = await getJob(request, portal);
  if (description.phase !== 'ready') return redirectToJob(request, job);
  const detail = 'The import settings have changed since you opened this page. Nothing was '
    + 'imported. Check the new preview.';
  const state = { ...initialState(), detail, status: 409 };
  return renderImport(request, portal, description, state);
};

/** POST /portal/import/{id}/cancel: 303, 404 */
export const cancelImport: Submit = async (request, portal) => {
  const job = await getJob(request, portal);
  if (job.state.phase === 'importing') await job.cancel();
  return redirectToJob(request, job);
};

/** POST /portal/import/{id}/discard: 303, 404 */
export const discardImport: Submit = async (request, portal) => {
  const { account: { sellerId }, link } = request;
  const { id, description } = await getJob(request, portal);
  await getImportJobs(portal).discard(sellerId, id);
  return redirect(link(viewTask(request, description).words.home));
};

/** GET /portal/import/{id}/rejected: 200, 404 */
export const downloadRejectedRows: Show = async (request, portal) => {
  const { state, upload } = await getJob(request, portal);
  const file = upload?.openRejected();
  if (isRunning(state) || !upload || !file) {
    throw new AppError('not_found', 'This import has no rejected rows.');
  }
  const { head, name } = upload;
  const stem = name.replace(/\.\w{1,6}$/, '');
  return request.openStream('export', async () => ({
    status: 200,
    headers: {
      'content-type': head.format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson',
      'content-disposition': formatAttachment(`${nameRejectedRows(stem)}.${head.format}`),
      'cache-control': 'no-store',
    },
    body: file.read(),
  }));
};

/** Redirects to an import's page after a short wait, in which most runs end. */
export async function redirectToJob({ link }: PageRequest, job: ImportJob): Promise<Reply> {
  await job.waitUntilIdle(IMPORT_SETTLE_MS);
  return redirect(link(`/import/${job.id}`));
}

function getJob({ account, parameters }: PageRequest, portal: Portal): Promise<ImportJob> {
  return getImportJobs(portal).get(account.sellerId, parameters['id'] ?? '');
}

export function viewTask(request: PageRequest, job: JobDescription<JobTask>): TaskView {
  return kindOf(job.task).view(request, job, job.task);
}

/** @param state Of the form with the settings. */
function renderImport(
  request: PageRequest, portal: Portal, job: JobDescription<JobTask>,
  state: FormState = initialState(),
): Reply {
  const { phase, task } = job;
  const { words, name } = viewTask(request, job);
  return renderPage(request, portal, {
    title: `${words.phases[phase][0]} ${name}`,
    state, fields: kindOf(task).listFields?.(task),
    content: renderPhase(request, job, state),
    scripts: ['import.js'],
  });
}

function renderPhase(
  request: PageRequest, job: JobDescription<JobTask>, state: FormState,
): Content {
  const { phase } = job;
  const view = viewTask(request, job);
  const { words } = view;
  const button = (action: string, label: string, isDanger: boolean): Content => postForm(
    request, request.link(`/import/${job.id}/${action}`),
    html`<button${isDanger && html` class="danger"`}>${label}</button>`, 'apart',
  );
  // A file would have to be uploaded again.
  const discard = button('discard', words.discard, kindOf(job.task).file !== undefined);
  if (isRunning(job)) {
    return html`${renderProgress(request, job, view)}
      <p class="quiet">You can leave this page; the ${words.noun} continues. If the server stops,
        the ${words.noun} ends. ${words.kept}</p>
      <div class="actions">${phase === 'checking' ? discard
    : button('cancel', `Cancel ${words.noun}`, true)}</div>`;
  }
  if (phase === 'ready') {
    const isUnclear = isKindUnclear(job);
    return html`${isUnclear && renderQuestion(request, job)}
      ${view.preview(state)}
      <div class="actions">${!isUnclear && renderSwitch(request, job)}${discard}</div>`;
  }
  return html`${renderResult(request, job, view)}
    <div class="actions">
      <a class="button primary" href="${request.link('/products')}">View products</a>
      ${view.next()}
    </div>`;
}

/** Whether the file may be a product file or a stock file. */
function isKindUnclear({ task }: JobDescription<JobTask>): boolean {
  if (task.kind !== 'products' && task.kind !== 'stock') return false;
  const { header, untrusted } = task.file.head;
  return recognizeContent(header, untrusted) === 'unclear';
}

function renderQuestion(request: PageRequest, job: JobDescription<JobTask>): Content {
  return card('kind', 'Is this a product file or a stock file?', html`
    <p>The file has stock, and also names, categories or prices.
      ${kindOf(job.task).file?.reading}</p>
    ${renderSwitch(request, job)}`);
}

/** For a file whose kind was not recognized. */
function renderSwitch(request: PageRequest, { id, task }: JobDescription<JobTask>): Content {
  const { file } = kindOf(task);
  return file && postForm(request, request.link(`/import/${id}`), html`
    ${hiddenField('kind', file.otherKind)}
    <button>Read as a ${file.otherLabel}</button>`, '');
}
