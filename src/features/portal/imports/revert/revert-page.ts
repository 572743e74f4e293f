/** Starts the preview of a revert, which continues on the page of its job. */
import type { Reply } from '../../../../http/response/reply.ts';
import { toActor } from '../../forms/form.ts';
import { getRecord } from '../../records/import-record.ts';
import type { PageRequest, Portal } from '../../route.ts';
import { getImportJobs, redirectToJob } from '../import-page.ts';
import { RevertTask } from './revert-task.ts';

/** POST /portal/imports/{import_id}/revert: 303, 404, 503 */
export async function previewRevert(request: PageRequest, portal: Portal): Promise<Reply> {
  const record = await getRecord(request, portal);
  const actor = { ...toActor(request), currency: request.account.currency };
  const task = new RevertTask({ actor, record, store: portal.store });
  return redirectToJob(request, await getImportJobs(portal).start(actor, task));
}
