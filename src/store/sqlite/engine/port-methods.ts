/**
 * A port's methods as the adapter implements them: without promises, on a connection. `store.ts`
 * derives the methods from these, so their parameters are declared in the ports alone.
 */

/** Runs in the thread that serves, on the current snapshot. */
export type QueriesOf<Port> = {
  [Name in keyof Port]: Port[Name] extends (...args: infer Args) => Promise<infer Result>
    ? (...args: Args) => Result : never;
};

/**
 * Runs in the writer thread, with the arguments and the time of the commit. Arguments cross threads
 * as JSON, so `undefined` arrives as `null`. Mutations that take an idempotency key have an object
 * instead, since the names of its members are hashed.
 */
export type MutationsOf<Port> = {
  [Name in keyof Port]: Port[Name] extends (...args: infer Args) => Promise<infer Result>
    ? (args: Args, at: number) => Result : never;
};
