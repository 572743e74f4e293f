/**
 * Presents two stores on the same data as one. Calls alternate between them, as a proxy sends
 * requests to any node.
 */
import type { Store } from '../../src/store/store.ts';
import type { PrepareStore } from './contract/fixture.ts';

export function withTwoStores(prepare: PrepareStore): PrepareStore {
  return (t) => {
    const open = prepare(t);
    return async (clock) => alternate([await open(clock), await open(clock)]);
  };
}

function alternate(stores: readonly [Store, Store]): Store {
  let calls = 0;
  const pickStore = (): Store => {
    calls += 1;
    return stores[calls % 2 === 0 ? 0 : 1];
  };
  return new Proxy(stores[0], {
    get(store, name) {
      if (name === 'close') return () => Promise.all(stores.map((one) => one.close()));
      const value: unknown = Reflect.get(store, name);
      // The store is chosen when the method is called, not when it is read.
      return typeof value === 'function' ? (...values: readonly unknown[]) => {
        const called = pickStore();
        return Reflect.apply(Reflect.get(called, name), called, values);
      } : value;
    },
  });
}
