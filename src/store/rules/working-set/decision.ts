/**
 * Runs the mutations of one transaction in memory. Their outcomes hold once it has been written;
 * those that reject write nothing.
 */
import type { SellerId } from '../../../domain/id.ts';
import { fingerprintMutation, hashIdempotencyKey, isRejection, replay } from '../idempotency.ts';
import { withChecks } from '../review.ts';
import type { StockLevelCache } from '../stock-levels.ts';
import type { LoadedSeller } from './loaded-seller.ts';
import { NotLoadedError } from './loaded-levels.ts';
import type { CatalogueCall } from './named-rows.ts';
import { type IdempotencyRecord, WorkingSet } from './working-set.ts';

export type Outcome =
  | { readonly isDone: true; readonly value: unknown }
  | { readonly isDone: false; readonly error: unknown };

/** Recorded outcomes by `keyOfRecord`. */
export type IdempotencyRecords = Map<string, IdempotencyRecord>;

export function keyOfRecord(sellerId: SellerId, keyHash: Uint8Array, part: number): string {
  return `${sellerId} ${Buffer.from(keyHash).toString('base64')} ${part}`;
}

/** What the mutations of a transaction know. */
export interface DecisionContext {
  /** Whether the sellers are locked, and all rows that the mutations name were loaded. */
  readonly isLocked: boolean;
  /** Whether these rows were loaded for the mutations, as of one snapshot. */
  readonly isSnapshot?: boolean;
  readonly sellers: ReadonlyMap<SellerId, LoadedSeller>;
  readonly records: IdempotencyRecords;
  readonly cache: StockLevelCache;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export interface Decision {
  /** One per call, in order. */
  readonly outcomes: readonly Outcome[];
  /** What to write. */
  readonly set: WorkingSet;
}

/** A mutation failed after it had changed rows: the mutations must run one by one. */
export class PartialMutationError extends Error {
  override readonly name = 'PartialMutationError';
}

/** @throws NotLoadedError, PartialMutationError */
export function decide(calls: readonly CatalogueCall[], context: DecisionContext): Decision {
  const set = new WorkingSet(context.sellers);
  const mutations = set.prepareMutations(context.cache);
  const outcomes = calls.map((call): Outcome => {
    const { size } = set;
    try {
      // The cast: the input of a call is the one of its mutation.
      const mutate = mutations[call.name] as (input: unknown, at: number) => unknown;
      const value = runOnce(call, set, context, () =>
        mutate(withChecks(call.input), context.at));
      return { isDone: true, value };
    } catch (error) {
      if (error instanceof NotLoadedError) throw error;
      if (set.size !== size) throw new PartialMutationError('', { cause: error });
      assertNew(call, context);
      return { isDone: false, error };
    }
  });
  const { sellers, isLocked, isSnapshot } = context;
  // An optimistic decision holds only if the compare-and-set of the position proves it.
  const moved = new Set(set.positions.listMoved().map(([id]) => id));
  const isProven = isLocked || isSnapshot || sellers.keys().every((id) => moved.has(id));
  if (!isProven) throw new NotLoadedError();
  return { outcomes, set };
}

/** The recorded outcome of a call, or the outcome of `mutate`, which it records. */
function runOnce(
  call: CatalogueCall, set: WorkingSet, context: DecisionContext, mutate: () => unknown,
): unknown {
  const { idempotency: scope } = call;
  const { records } = context;
  if (!scope) return mutate();
  const { sellerId, part } = scope;
  const keyHash = hashIdempotencyKey(scope);
  const key = keyOfRecord(sellerId, keyHash, part);
  const record = records.get(key);
  if (record) return replay(record.fingerprint, record.outcome, call);
  const value = mutate();
  if (isRejection(value)) {
    assertNew(call, context);
    return value;
  }
  const outcome = JSON.stringify(value);
  const fingerprint = fingerprintMutation(call);
  records.set(key, { fingerprint, outcome });
  set.records.push({ sellerId, keyHash, part, fingerprint, outcome });
  return value;
}

/** A call that is rejected may be the retry of one that succeeded: its record must be loaded. */
function assertNew({ idempotency }: CatalogueCall, { isLocked }: DecisionContext): void {
  if (idempotency && !isLocked) throw new NotLoadedError();
}
