/**
 * Per-app objects of features, such as the change notifier. Each is created on first use by a
 * function, which is also its key. So the core holds feature state without knowing it, and two apps
 * in one process share none.
 */
export class Instances<Context> {
  readonly #context: () => Context;
  readonly #instances = new Map<(context: Context) => unknown, unknown>();

  /** `context` returns the argument of the functions; it is first called on first use. */
  constructor(context: () => Context) {
    this.#context = context;
  }

  get<Instance>(create: (context: Context) => Instance): Instance {
    if (!this.#instances.has(create)) this.set(create, create(this.#context()));
    // The cast: a function's entry is what it returned, or what `set` received for it.
    return this.#instances.get(create) as Instance;
  }

  /** Replaces what `create` would return. */
  set<Instance>(create: (context: Context) => Instance, instance: Instance): void {
    this.#instances.set(create, instance);
  }

  /** Closes the instances that have a `close` method. */
  async close(): Promise<void> {
    await Promise.all([...this.#instances.values()].map(closeInstance));
  }
}

async function closeInstance(instance: unknown): Promise<void> {
  if (typeof instance !== 'object' || instance === null || !('close' in instance)) return;
  if (typeof instance.close === 'function') await instance.close();
}
