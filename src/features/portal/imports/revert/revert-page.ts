/** Starts the preview of a revert, which continues on the page of its job. */
import type { Reply } from '../../../../http/response/reply.ts';
import { getRecord } from '../../records/import-record.ts';
import type { PageRequest, Portal } from '../../route.ts';
import { getImportJobs, redirectToJob, toImporter } from '../import-page.ts';
import { type RevertSubject, RevertTask, subjectOf } from './revert-task.ts';

/** POST /portal/imports/{import_id}/revert: 303, 404, 503 */
export async function previewRevert(request: PageRequest, portal: Portal): Promise<Reply> {
  return startPreview(request, portal, subjectOf(await getRecord(request, portal)));
}

export async function startPreview(
  request: PageRequest, portal: Portal, subject: RevertSubject,
): Promise<Reply> {
  const actor = toImporter(request);
  const task = new RevertTask({ actor, subject, store: portal.store });
  return redirectToJob(request, await getImportJobs(portal).start(actor, task));
}
