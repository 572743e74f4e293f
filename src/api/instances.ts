/**
 * What features keep for one app, such as the notifier of the change feed: made by a function on
 * first use, and found by that function. So the core carries the state of features without knowing
 * it, and two apps in one process share none.
 */
export class Instances<Context> {
  readonly #context: () => Context;
  readonly #instances = new Map<(context: Context) => unknown, unknown>();

  /** `context` is what the functions are given; it is read when the first of them is called. */
  constructor(context: () => Context) {
    this.#context = context;
  }

  get<Instance>(create: (context: Context) => Instance): Instance {
    if (!this.#instances.has(create)) this.set(create, create(this.#context()));
    // The cast: under a function there is only what it returned, or what `set` took for it.
    return this.#instances.get(create) as Instance;
  }

  /** Gives what `create` would have made. */
  set<Instance>(create: (context: Context) => Instance, instance: Instance): void {
    this.#instances.set(create, instance);
  }

  /** Closes those that have a `close`. */
  async close(): Promise<void> {
    await Promise.all([...this.#instances.values()].map(closeInstance));
  }
}

async function closeInstance(instance: unknown): Promise<void> {
  if (typeof instance !== 'object' || instance === null || !('close' in instance)) return;
  if (typeof instance.close === 'function') await instance.close();
}
