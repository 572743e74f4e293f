/**
 * Per-app objects of features, such as the change notifier. Each is created on first use by a
 * function, which is also its key. So the core holds feature state without knowing it, and two apps
 * in one process share none. `getContext` returns the argument of the functions; it is first called
 * on first use.
 */
export function makeInstances<Context>(getContext: () => Context) {
  const instances = new Map<(context: Context) => unknown, unknown>();
  return {
    get<Instance>(create: (context: Context) => Instance): Instance {
      if (!instances.has(create)) instances.set(create, create(getContext()));
      // The cast: a function's entry is what it returned, or what `set` received for it.
      return instances.get(create) as Instance;
    },
    /** Replaces what `create` would return. */
    set<Instance>(create: (context: Context) => Instance, instance: Instance): void {
      instances.set(create, instance);
    },
    /** Closes the instances that have a `close` method. */
    async close(): Promise<void> {
      await Promise.all([...instances.values()].map(closeInstance));
    },
  };
}

export type Instances<Context> = ReturnType<typeof makeInstances<Context>>;

async function closeInstance(instance: unknown): Promise<void> {
  if (typeof instance !== 'object' || instance === null || !('close' in instance)) return;
  if (typeof instance.close === 'function') await instance.close();
}
