/** Import jobs of the portal on a real store, and files to upload. */
import assert from 'node:assert/strict';
import { join as joinPath } from 'node:path';
import type { TestContext } from 'node:test';
import {
  CONCURRENT_IMPORTS_LIMIT, CONCURRENT_IMPORTS_PER_SELLER_LIMIT,
} from '../../../../src/api/limits.ts';
import { PORTAL_KEY_ID, type SellerId } from '../../../../src/domain/id.ts';
import { ConcurrencyLimiter } from '../../../../src/domain/concurrency-limiter.ts';
import type { ErrorReport } from '../../../../src/http/response/problem.ts';
import { ImportJobs } from '../../../../src/features/portal/imports/import-jobs.ts';
import type { ImportJob } from '../../../../src/features/portal/imports/import-job.ts';
import type { Importer } from '../../../../src/features/portal/imports/job-kind.ts';
import { type JobTask, kindOf } from '../../../../src/features/portal/imports/job-kinds.ts';
import type {
  ProductImport, ProductSettings,
} from '../../../../src/features/portal/imports/products/product-import.ts';
import type { UploadedFile } from '../../../../src/features/portal/imports/uploaded-file.ts';
import type { Store } from '../../../../src/store/store.ts';
import { join } from '../../../store/contract/portal-fixture.ts';
import { openStore } from '../../../store/sqlite/open.ts';
import { type Clock, makeClock } from '../../../support/clock.ts';
import { makeFolder } from '../../../support/folder.ts';

export const HEADER = 'name,category,sku,price,stock\n';
/** A test that waits this long fails. */
const PATIENCE_MS = 60_000;

export interface Bench {
  readonly jobs: ImportJobs;
  readonly store: Store;
  readonly limiter: ConcurrencyLimiter<SellerId>;
  readonly clock: Clock;
  readonly folder: string;
  readonly reports: ErrorReport[];
  readonly importer: Importer;
  makeImporter(): Promise<Importer>;
}

export async function openBench(
  t: TestContext, change = (store: Store): Store => store, keptLimitBytes?: number,
): Promise<Bench> {
  const home = makeFolder(t);
  const store = change(await openStore(t, { folder: joinPath(home, 'data') }));
  const bench = await makeBench(store, joinPath(home, 'uploads'), keptLimitBytes);
  t.after(() => bench.jobs.close());
  return bench;
}

/** @param folder The folder for uploads, unless the store keeps them. */
export async function makeBench(
  store: Store, folder: string, keptLimitBytes?: number,
): Promise<Bench> {
  const reports: ErrorReport[] = [];
  const clock = makeClock();
  const limiter = new ConcurrencyLimiter<SellerId>('imports', {
    total: CONCURRENT_IMPORTS_LIMIT, perOwner: CONCURRENT_IMPORTS_PER_SELLER_LIMIT,
  });
  const report = (entry: ErrorReport): number => reports.push(entry);
  const jobs = new ImportJobs({
    store, imports: limiter, uploadFolder: folder, clock, report,
  }, keptLimitBytes);
  const makeImporter = async (): Promise<Importer> => {
    const { sellerId } = await join(store);
    const { accountId, currency, name } = (await store.listAccounts(sellerId))[0] ?? assert.fail();
    return { sellerId, accountId, keyId: PORTAL_KEY_ID, actorName: name, currency };
  };
  const importer = await makeImporter();
  return { jobs, store, limiter, clock, folder, reports, importer, makeImporter };
}

/** Uploads a file and waits for its dry run. */
export async function upload(
  { jobs, importer }: Pick<Bench, 'jobs' | 'importer'>, text: string | Buffer,
  name = 'products.csv',
): Promise<ImportJob> {
  const job = await jobs.receive(importer, name, chunksOf(text));
  await job.waitUntilIdle(PATIENCE_MS);
  return job;
}

/** The task of a job that imports products. */
export function taskOf({ state: { task } }: ImportJob): ProductImport {
  if (task.kind === 'products') return task;
  throw new TypeError(`The file was detected as ${task.kind}.`);
}

export function uploadOf({ upload: file }: ImportJob): UploadedFile {
  return file ?? assert.fail();
}

/** Whether the task of a job may be written. */
export function canStart({ state: { task } }: ImportJob): boolean {
  return kindOf(task).canStart(task);
}

/** Previews a task like that of the job, with other settings. */
export async function restart(job: ImportJob, task: JobTask): Promise<void> {
  await job.dryRun(kindOf(task).restart(task));
}

/** Repeats the dry run with other settings. */
export async function retry(
  job: ImportJob, settings: Partial<ProductSettings>,
): Promise<ImportJob> {
  const task = taskOf(job);
  await restart(job, { ...task, settings: { ...task.settings, ...settings } });
  await job.waitUntilIdle(PATIENCE_MS);
  return job;
}

/** Imports a file to its end. */
export async function commit(job: ImportJob): Promise<boolean> {
  const hasStarted = await job.commit(job.state.revision, job.importer);
  await job.waitUntilIdle(PATIENCE_MS);
  return hasStarted;
}

export async function* chunksOf(text: string | Buffer) {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 50_000) yield bytes.subarray(at, at + 50_000);
}

export async function readRejected(job: ImportJob): Promise<string> {
  const rejected = uploadOf(job).openRejected();
  return Buffer.concat(await Array.fromAsync(rejected?.read() ?? [])).toString();
}

/** Rows of `count` numbered products. */
export function makeRows(count: number, from = 1, price = '19.99'): string {
  return Array.from({ length: count }, (_, n) =>
    `Product ${from + n},Kitchen,SKU-${from + n},${price},7\n`).join('');
}
