/** Starts the preview of a revert, which continues on the page of its job. */
import { DAY_MS, findDuration } from '../../../../domain/time.ts';
import type { Reply } from '../../../../http/response/reply.ts';
import { shorten } from '../../html/html.ts';
import { ALWAYS } from '../../keys/leaked.ts';
import { formatId, getKey } from '../../keys/key-facts.ts';
import { KEY_NAME_BYTES } from '../../limits.ts';
import { getRecord } from '../../records/import-record.ts';
import type { PageRequest, Portal, Submit } from '../../route.ts';
import { getImportJobs, redirectToJob, toImporter } from '../import-page.ts';
import { restartRevert, type RevertSubject, subjectOf } from './revert-task.ts';

/** POST /portal/imports/{import_id}/revert: 303, 404, 503 */
export const revertImport: Submit = async (request, portal) =>
  startPreview(request, portal, subjectOf(await getRecord(request, portal)));

/** POST /portal/leaked/{key_id}/revert: 303, 404, 410, 503 */
export const revertKeyChanges: Submit = async (request, portal, form) => {
  const key = await getKey(request, portal);
  const { sellerId, id: keyId, name, createdAt } = key;
  const lifeMs = findDuration(form.get('since')) ?? DAY_MS;
  // Before the key, there is nothing to undo.
  const since = form.get('since') === ALWAYS ? createdAt
    : Math.max(createdAt, portal.clock() - lifeMs);
  const after = await portal.store.findPositionAt(sellerId, since - 1);
  return startPreview(request, portal, {
    selection: { after, upTo: request.position, keyId, source: undefined }, total: 0,
    name: `Key ${shorten(name, KEY_NAME_BYTES)}`,
    path: `/changes?key=${formatId(key)}`,
  });
};

async function startPreview(
  request: PageRequest, portal: Portal, subject: RevertSubject,
): Promise<Reply> {
  const task = restartRevert({ subject, isForced: false });
  return redirectToJob(request, await getImportJobs(portal).start(toImporter(request), task));
}
