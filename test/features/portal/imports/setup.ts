/** Imports of the portal on a real store, and files that are uploaded to them. */
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import {
  CONCURRENT_IMPORTS_LIMIT, CONCURRENT_IMPORTS_PER_SELLER_LIMIT,
} from '../../../../src/api/limits.ts';
import { PORTAL_KEY_ID, type SellerId } from '../../../../src/domain/id.ts';
import { ConcurrencyLimiter } from '../../../../src/http/concurrency-limiter.ts';
import type { ErrorReport } from '../../../../src/http/response/problem.ts';
import { Imports } from '../../../../src/features/portal/imports/imports.ts';
import type {
  Importer, ProductImport,
} from '../../../../src/features/portal/imports/product-import.ts';
import { UPLOADS_KEPT_LIMIT_BYTES } from '../../../../src/features/portal/limits.ts';
import type { Store } from '../../../../src/store/store.ts';
import { makeActor } from '../../../store/contract/fixture.ts';
import { openStore } from '../../../store/sqlite/open.ts';
import { type Clock, makeClock } from '../../../support/clock.ts';
import { makeFolder } from '../../../support/folder.ts';

export const HEADER = 'name,category,sku,price,stock\n';
/** Longer than any step of a test takes; a test that waits so long fails anyway. */
const PATIENCE_MS = 60_000;

export interface Bench {
  readonly imports: Imports;
  readonly store: Store;
  readonly slots: ConcurrencyLimiter<SellerId>;
  readonly clock: Clock;
  readonly folder: string;
  readonly reports: ErrorReport[];
  readonly importer: Importer;
  makeImporter(): Promise<Importer>;
}

export async function openBench(
  t: TestContext, change = (store: Store): Store => store,
  keptLimitBytes = UPLOADS_KEPT_LIMIT_BYTES,
) {
  const home = makeFolder(t);
  const folder = join(home, 'uploads');
  const store = change(await openStore(t, { folder: join(home, 'data') }));
  const reports: ErrorReport[] = [];
  const clock = makeClock();
  const slots = new ConcurrencyLimiter<SellerId>('imports', {
    total: CONCURRENT_IMPORTS_LIMIT, perOwner: CONCURRENT_IMPORTS_PER_SELLER_LIMIT,
  });
  const imports = new Imports({
    store, slots, folder, keptLimitBytes, clock, report: (entry) => reports.push(entry),
  });
  t.after(() => imports.close());
  const makeImporter = async (): Promise<Importer> => {
    const { sellerId } = await makeActor(store);
    return { sellerId, keyId: PORTAL_KEY_ID, currency: { code: 'EUR', decimals: 2 } };
  };
  const importer = await makeImporter();
  const bench: Bench = { imports, store, slots, clock, folder, reports, importer, makeImporter };
  return bench;
}

/** Uploads a file, and waits until it was tried. */
export async function upload(
  { imports, importer }: Pick<Bench, 'imports' | 'importer'>, text: string | Buffer,
  name = 'products.csv',
): Promise<ProductImport> {
  const one = await imports.receive(importer, name, chunksOf(text));
  await one.settle(PATIENCE_MS);
  return one;
}

/** Tries a file in another way. */
export async function retry(
  one: ProductImport, settings: Partial<ProductImport['settings']>,
): Promise<ProductImport> {
  one.try({ ...one.settings, ...settings });
  await one.settle(PATIENCE_MS);
  return one;
}

/** Imports a file that was tried, to its end. */
export async function commit(one: ProductImport): Promise<boolean> {
  const hasBegun = one.commit(one.revision);
  await one.settle(PATIENCE_MS);
  return hasBegun;
}

export async function* chunksOf(text: string | Buffer) {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 50_000) yield bytes.subarray(at, at + 50_000);
}

export async function readRefused(one: ProductImport): Promise<string> {
  return Buffer.concat(await Array.fromAsync(one.refused.file?.read() ?? [])).toString();
}

/** Rows of products of that many numbers, the first one given. */
export function makeRows(count: number, from = 1, price = '19.99'): string {
  return Array.from({ length: count }, (_, n) =>
    `Product ${from + n},Kitchen,SKU-${from + n},${price},7\n`).join('');
}
