/** Starts the preview of a bulk edit, which continues on the page of its job. */
import type { Reply } from '../../../../http/response/reply.ts';
import { toActor } from '../../forms/form.ts';
import { CATEGORIES_SUGGESTED } from '../../limits.ts';
import type { PageRequest, Portal } from '../../route.ts';
import type { ImportJob } from '../import-job.ts';
import { getImportJobs, redirectToJob } from '../import-page.ts';
import { type BulkOrder, BulkTask } from './bulk-task.ts';

/** Redirects to the preview. @throws AppError `unavailable` if the server shuts down */
export async function startBulk(
  request: PageRequest, portal: Portal, order: BulkOrder,
): Promise<Reply> {
  return redirectToJob(request, await previewBulk(request, portal, order));
}

/** The job with the preview, which may still run. @throws AppError as `startBulk` */
export async function previewBulk(
  request: PageRequest, portal: Portal, order: BulkOrder,
): Promise<ImportJob> {
  const { account: { sellerId, currency }, position } = request;
  const { store } = portal;
  const actor = { ...toActor(request), currency };
  const categories = order.change.mode === 'delete' ? []
    : await store.listCategories(sellerId, {
      from: undefined, limit: CATEGORIES_SUGGESTED,
    }, position);
  const task = new BulkTask({ actor, store }, order, categories.map(({ category }) => category));
  return getImportJobs(portal).start(actor, task);
}
