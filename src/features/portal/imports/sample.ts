/** The sample catalogue, for shops that want to try the portal first: an import like any other. */
import { readFile } from 'node:fs/promises';
import type { Reply } from '../../../http/response/reply.ts';
import { toActor } from '../forms/form.ts';
import type { PageRequest, Portal } from '../route.ts';
import { getImportJobs, redirectToJob } from './import-page.ts';

const SAMPLE = new URL('../../../../data/sample-catalogue.csv', import.meta.url);

/** POST /portal/import/sample: 303, 503. Opens its preview. */
export async function importSample(request: PageRequest, portal: Portal): Promise<Reply> {
  const importer = { ...toActor(request), currency: request.account.currency };
  const jobs = getImportJobs(portal);
  return redirectToJob(request, await jobs.receive(importer, 'sample-catalogue.csv', readSample()));
}

async function* readSample(): AsyncGenerator<Buffer, void, void> {
  yield await readFile(SAMPLE);
}
