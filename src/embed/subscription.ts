/**
 * Subscriptions: call a function with each change of a catalogue, in order, one after the other.
 * They are built on the change feed, and end on the first error instead of skipping a change.
 */
import type { ChangesOptions } from '../client/changes.ts';
import type { SellerApi } from '../client/seller-client.ts';
import type { Change } from '../client/types.ts';
import {
  listOf, oneOf, parseFunction, type Parsers, parseText, readArgument, readValue,
} from '../domain/arguments.ts';
import { CHANGE_TYPES } from '../domain/catalogue/change.ts';
import { parseRevision } from '../domain/revision.ts';
import { invalid } from '../domain/validation.ts';
import type { ErrorReporter } from '../http/response/problem.ts';

/** Which changes to subscribe to: `after` is the last position that the program has processed. */
export type SubscribeOptions =
  Pick<ChangesOptions, 'after' | 'types' | 'import' | 'signal' | 'onPosition'>;

/** Called with the next change once the promise that it returned is resolved. */
export type OnChange = (change: Change) => unknown;

/** A subscription that is active until it is stopped, or until an error ends it. */
export interface Subscription {
  /**
   * Resolves once the subscription has been stopped, by `stop`, its signal or `close` of the shop,
   * and no call of `onChange` is running. Rejects with the error of `onChange` or of the feed,
   * which `report` receives too, so that it is safe to ignore this promise.
   */
  readonly done: Promise<void>;
  /**
   * Calls `onChange` no more. Idempotent.
   * @example
   * ```ts
   * const subscription = shop.subscribe(seller.id, { after: 0 }, (change) => {
   *   console.log(change.sku);
   * });
   * subscription.stop();
   * await subscription.done;
   * ```
   */
  stop(): void;
}

const OPTIONS: Parsers<SubscribeOptions> = {
  after: parseRevision,
  types: listOf(oneOf(CHANGE_TYPES)),
  import: parseText,
  signal: (value) => (value instanceof AbortSignal ? { value }
    : invalid('type', 'Must be an AbortSignal.')),
  onPosition: parseFunction,
};

/** @throws AppError `invalid_data` */
export function readSubscription(options: unknown, onChange: unknown) {
  return {
    options: readArgument(options, 'subscribe', OPTIONS, ['after']),
    onChange: readValue<OnChange>(onChange, 'subscribe: onChange', parseFunction),
  };
}

type Request = ReturnType<typeof readSubscription>;

/** Starts at once. */
export function subscribe(
  api: SellerApi, { options: { signal, ...options }, onChange }: Request, report: ErrorReporter,
): Subscription {
  const stopping = new AbortController();
  const until = signal ? AbortSignal.any([stopping.signal, signal]) : stopping.signal;

  async function follow(): Promise<void> {
    using stream = new DisposableStack();
    stream.defer(() => stopping.abort()); // it still waits for changes
    const changes = api.changes({ ...options, live: true, signal: until });
    for (;;) {
      const step = await changes.next().catch((error: unknown) => {
        if (until.aborted) return undefined;
        throw error;
      });
      if (!step || step.done === true || until.aborted) return;
      await onChange(step.value);
    }
  }

  const done = follow();
  done.catch((error: unknown) => report({ id: 'subscription', error }));
  return { done, stop: () => stopping.abort() };
}
