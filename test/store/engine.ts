/** What property tests need of a store's engine. */
import type { TestContext } from 'node:test';
import type { Store } from '../../src/store/store.ts';
import type { OpenStore } from './contract/fixture.ts';

export interface Engine {
  /** The part of the runs that is worth its time on this engine: from 0 to 1. */
  readonly runsShare: number;
  prepare(t: TestContext): Promise<EngineData>;
}

/** Data of one test. */
export interface EngineData {
  /** Opens one more store on the data; it is closed after the test. */
  readonly open: OpenStore;
  /** Whether concurrent calls of one store get product ids without gaps. */
  readonly hasExactIds: boolean;
  /** All rows of all tables, as text, by table. */
  readTables(): Promise<ReadonlyMap<string, readonly string[]>>;
  /** The folder with the data; undefined without one. */
  readonly folder?: string;
  /** Asserts that `doctor` finds no fault, on SQLite. */
  assertHealthy(): void;
}

/** Opens stores that are closed after the test. */
export function closeAfter(t: TestContext, open: OpenStore): OpenStore {
  const stores: Store[] = [];
  t.after(() => Promise.all(stores.map((store) => store.close())));
  return async (clock) => {
    const store = await open(clock);
    stores.push(store);
    return store;
  };
}
