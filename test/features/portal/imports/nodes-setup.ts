/** Nodes with import jobs on one PostgreSQL database. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { ImportJob } from '../../../../src/features/portal/imports/import-job.ts';
import type { ImportJobStore } from '../../../../src/store/nodes/import-job-store.ts';
import { openConnection } from '../../../../src/store/postgres/connect/open-connection.ts';
import { openPostgresStore } from '../../../../src/store/postgres/store.ts';
import type { Store } from '../../../../src/store/store.ts';
import { TEST_KEY } from '../../../support/postgres/server.ts';
import { borrowDatabase } from '../../../support/postgres/shared-server.ts';
import { type Bench, makeBench } from './setup.ts';

interface Node extends Bench {
  /** A job of the nodes' seller. */
  find(id: string): Promise<ImportJob>;
  /** The job once it meets a condition. */
  findWhen(id: string, isMet: (job: ImportJob) => boolean): Promise<ImportJob>;
}

type Change = (store: Store) => Store;

/** Opens two nodes on an empty database. */
export async function openNodes(t: TestContext, changeFirst: Change = (store) => store) {
  const closes: (() => Promise<unknown>)[] = [];
  t.after(() => Promise.all(closes.map((close) => close())));
  const connect = await borrowDatabase(t);
  const connection = await openConnection(connect);
  closes.push(() => connection.close());
  const open = async (change: Change, keptLimitBytes?: number): Promise<Bench> => {
    const store = await openPostgresStore({ connect, key: TEST_KEY });
    const bench = await makeBench(change(store), 'unused', keptLimitBytes);
    closes.push(async () => {
      await bench.jobs.close();
      await store.close();
    });
    return bench;
  };
  const first = await open(changeFirst);
  const { importer } = first;
  const toNode = (bench: Bench): Node => {
    const find = (id: string) => bench.jobs.get(importer.sellerId, id);
    return {
      ...bench, importer, find,
      async findWhen(id, isMet) {
        for (;;) {
          const job = await find(id);
          if (isMet(job)) return job;
          await wait(20);
        }
      },
    };
  };
  const openNode = async (keptLimitBytes?: number): Promise<Node> =>
    toNode(await open((store) => store, keptLimitBytes));
  const query = async (text: string) => {
    const [result] = await connection.run([{ text, values: [], isUnnamed: true }]);
    return result?.rows ?? [];
  };
  return {
    a: toNode(first), b: await openNode(), openNode, query,
    /** Makes the last progress report of all jobs this much older. */
    age: (ms: number) => query(`UPDATE import_job SET seen_at = seen_at - ${ms}`),
  };
}

type JobsChange = (jobs: ImportJobStore) => Partial<ImportJobStore>;

/** Holds an import before its second batch until `release`, on a node with changed job storage. */
export function holdSecondBatch(changeOfJobs: JobsChange) {
  const held = Promise.withResolvers<void>();
  let batches = 0;
  return {
    release: held.resolve,
    change: (store: Store): Store => changeJobs({
      ...store,
      importProducts: async (...args) => {
        batches += 1;
        if (batches === 2) await held.promise;
        return store.importProducts(...args);
      },
    }, changeOfJobs),
  };
}

/** A store with changed job storage. */
export function changeJobs(store: Store, change: JobsChange): Store {
  const { importJobs } = store;
  assert.ok(importJobs);
  return { ...store, importJobs: { ...importJobs, ...change(importJobs) } };
}

/** Suspends the work of a node and its progress reports, as if it had stopped. */
export class Suspension {
  readonly #resumed = Promise.withResolvers<void>();
  readonly #recorded = Promise.withResolvers<void>();
  readonly #stopped = Promise.withResolvers<void>();
  readonly stopped = this.#stopped.promise;
  /** The last progress report of the node. */
  #noting: Promise<unknown> = Promise.resolve();
  isSuspended = false;
  /** Import batches before the suspension. Other nodes know at least about the first batch. */
  batches = Infinity;

  resume(): void {
    this.isSuspended = false;
    this.#resumed.resolve();
  }

  readonly change = (store: Store): Store => {
    const { dryRunImport, importProducts } = store;
    return changeJobs({
      ...store,
      dryRunImport: (...args) => {
        const dryRun = dryRunImport(...args);
        return {
          try: async (products) => {
            await this.#wait();
            return dryRun.try(products);
          },
          close: () => dryRun.close(),
        };
      },
      importProducts: async (...args) => {
        this.batches -= 1;
        if (this.batches === 0) await this.#recorded.promise;
        const imported = await importProducts(...args);
        if (this.batches === 0) {
          this.isSuspended = true;
          await this.#noting;
          this.#stopped.resolve();
        }
        await this.#wait();
        return imported;
      },
    }, (jobs) => ({
      noteProgress: async (job) => {
        await this.#wait();
        const noting = jobs.noteProgress(job);
        this.#noting = noting.catch(() => {});
        const noted = await noting;
        if (JSON.stringify(job.content).includes('"importId":')) this.#recorded.resolve();
        return noted;
      },
    }));
  };

  async #wait(): Promise<void> {
    if (this.isSuspended) await this.#resumed.promise;
  }
}
