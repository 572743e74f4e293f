/**
 * A port's methods as the adapter implements them: synchronous, on a connection. `store.ts` derives
 * the public methods from these, so only the ports declare parameters.
 */
/** Runs in the main thread, on the current snapshot. */
export type QueriesOf<Port> = {
  [Name in keyof Port]: Port[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Awaited<Result> : never;
};

/**
 * Runs in the writer thread, with the arguments and the commit time. Arguments cross threads as
 * JSON, so `undefined` arrives as `null`. Mutations that take an idempotency key have an object
 * instead, since its member names are hashed.
 */
export type MutationsOf<Port> = {
  [Name in keyof Port]: Port[Name] extends (...args: infer Args) => Promise<infer Result>
    ? (args: Args, at: number) => Result : never;
};
