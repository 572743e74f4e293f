/** Starts the preview of a bulk edit, which continues on the page of its job. */
import { AppError } from '../../../../domain/error.ts';
import type { Reply } from '../../../../http/response/reply.ts';
import { CATEGORIES_SUGGESTED } from '../../limits.ts';
import type { PageRequest, Portal } from '../../route.ts';
import type { ImportJob } from '../import-job.ts';
import { getImportJobs, redirectToJob, toImporter } from '../import-page.ts';
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
  const { store } = portal;
  const actor = toImporter(request);
  const { change } = order;
  const isAsked = change.mode === 'category' && change.category === undefined;
  const suggestions = isAsked ? await suggestCategories(request, portal) : [];
  return getImportJobs(portal).start(actor, new BulkTask({ actor, store }, order, suggestions));
}

/** A form is useful without suggestions, while the search has not caught up. */
async function suggestCategories(
  { account: { sellerId }, position }: PageRequest, { store }: Portal,
): Promise<readonly string[]> {
  try {
    const query = { from: undefined, limit: CATEGORIES_SUGGESTED };
    const found = await store.listCategories(sellerId, query, position);
    return found.map(({ category }) => category);
  } catch (error) {
    if (error instanceof AppError && error.code === 'unavailable') return [];
    throw error;
  }
}
