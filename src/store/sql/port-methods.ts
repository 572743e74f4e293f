/**
 * A port's methods as the adapters implement them. Their stores derive the public methods from
 * these, so only the ports declare parameters.
 */
/** Runs on a snapshot. Without a promise if it needs no other thread or server. */
export type QueriesOf<Port> = {
  [Name in keyof Port]: Port[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Awaited<Result> | Promise<Awaited<Result>> : never;
};

/**
 * Runs in a transaction, with the arguments and the commit time. Arguments may have crossed threads
 * as JSON, so `undefined` arrives as `null`. Mutations that take an idempotency key have an object
 * instead, since its member names are hashed.
 */
export type MutationsOf<Port> = {
  [Name in keyof Port]: Port[Name] extends (...args: infer Args) => Promise<infer Result>
    ? (args: Args, at: number) => Result | Promise<Result> : never;
};
