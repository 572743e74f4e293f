/** The sample catalogue, for shops that want to try the portal first: an import like any other. */
import { readFile } from 'node:fs/promises';
import type { Reply } from '../../../http/response/reply.ts';
import type { PageRequest, Portal } from '../route.ts';
import { getImportJobs, redirectToJob, toImporter } from './import-page.ts';

const SAMPLE = new URL('../../../../data/sample-catalogue.csv', import.meta.url);

/** POST /portal/import/sample: 303, 503. Opens its preview. */
export async function importSample(request: PageRequest, portal: Portal): Promise<Reply> {
  const jobs = getImportJobs(portal);
  return redirectToJob(request,
    await jobs.receive(toImporter(request), 'sample-catalogue.csv', readSample()));
}

async function* readSample(): AsyncGenerator<Buffer, void, void> {
  yield await readFile(SAMPLE);
}
