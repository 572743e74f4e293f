/** Fixtures of search tests: catalogues, complete results, and reads of the search database. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import type { TestContext } from 'node:test';
import type { SellerId } from '../../../../src/domain/id.ts';
import type {
  KeysetAnchor, ProductFilter,
} from '../../../../src/domain/catalogue/product-query.ts';
import type { Product } from '../../../../src/domain/catalogue/product-fields.ts';
import type { Store } from '../../../../src/store/store.ts';
import type { Actor } from '../../../../src/store/write.ts';
import { addUp, countTo, makeNewProduct, readAll } from '../../contract/fixture.ts';
import { BY_ID } from './model.ts';

/** Imports this many products, each with its own name. */
export async function importProducts(store: Store, actor: Actor, count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1_000) {
    const products = countTo(Math.min(left, 1_000)).map(() => makeNewProduct());
    await store.importProducts(actor, products, 'upsert');
  }
}

/** All products that a seller's searches find at the current position of the catalogue. */
export async function findAll(
  store: Store, sellerId: SellerId, filter: ProductFilter = {},
): Promise<Product[]> {
  const position = (await store.findSeller(sellerId))?.position ?? NaN;
  const found: Product[] = [];
  let after: KeysetAnchor | undefined;
  for (let hasMore = true; hasMore;) {
    const query = { filter, sort: BY_ID, after, limit: 1_000 };
    const page = await store.searchProducts(sellerId, query, position);
    found.push(...page.products);
    const last = page.products.at(-1);
    after = last && { key: last.id, id: last.id };
    ({ hasMore } = page);
  }
  return found;
}

/** Asserts that searches find, and totals count, just what the catalogue holds. */
export async function assertAllFound(store: Store, { sellerId }: Actor): Promise<void> {
  const products = await readAll(store, sellerId);
  assert.deepEqual(await findAll(store, sellerId, { archived: 'any' }), products);
  // By the text that all names have.
  const byText = await findAll(store, sellerId, { q: 'product', archived: 'any' });
  assert.deepEqual(byText, products.filter(({ name }) => name.startsWith('Product')));
  const { position: _, ...totals } = await store.readTotals(sellerId, 0);
  assert.deepEqual(totals, addUp(products.filter(({ archived }) => !archived)));
  const { position: reached, ...all } = await store.readTotals(sellerId, 0, 'any');
  assert.deepEqual(all, addUp(products), `at ${reached}`);
}

interface Progress {
  readonly position: number;
  readonly built_to: number | null;
  readonly rows: number;
}

/** SQLITE_IOERR_SHORT_READ */
const SHORT_READ = 522;

/** The projection's progress for its first seller; undefined before it has started. */
export function readProgress(folder: string): Progress | undefined {
  const file = join(folder, 'search.db');
  if (!existsSync(file)) return undefined;
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file, { readOnly: true });
    // The columns are those of Progress.
    return db.prepare('SELECT position, built_to, rows FROM seller').get() as unknown as Progress;
  } catch (error) {
    // A file that is just being created has no tables yet, no WAL that a reader can open, or only
    // a part of its first page.
    const isNew = /no such table|locked|unable to open/;
    const isCut = error instanceof Error && 'errcode' in error && error.errcode === SHORT_READ;
    if (isCut || (error instanceof Error && isNew.test(error.message))) return undefined;
    throw error;
  } finally {
    db?.close();
  }
}

/** Resolves once a condition holds; the timeout of the test limits the wait. */
export async function waitFor<Value>(look: () => Value | undefined | false): Promise<Value> {
  for (;;) {
    const value = look();
    if (value) return value;
    await setTimeout(5);
  }
}

/** Collects the search threads that start during a test. */
export function catchThreads(t: TestContext): Worker[] {
  const started: Worker[] = [];
  const catchThread = (worker: Worker): void => {
    if (worker.threadName === 'search') started.push(worker);
  };
  process.on('worker', catchThread);
  t.after(() => { process.off('worker', catchThread); });
  return started;
}
