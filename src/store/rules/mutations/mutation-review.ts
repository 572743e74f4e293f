/** How a store runs the mutations of a write that has a review. */
import type { Actor, Idempotency, Review } from '../../write.ts';
import type { HistoryQueries } from '../history/queries.ts';
import type { StockBatch } from '../stock-batch.ts';
import type { MutationInput, MutationName, MutationOutput, RunMutation } from './registry.ts';

/** Where a review reads products, and what it runs. */
export interface ReviewedStore {
  readonly run: RunMutation;
  readonly queries: HistoryQueries;
}

/** Every review is one. */
export interface MutationReview extends Review {
  /** Runs a mutation once its changes were reviewed, and only if they are the same. */
  run<Name extends MutationName>(
    store: ReviewedStore, name: Name, input: MutationInput<Name>, idempotency?: Idempotency,
  ): Promise<MutationOutput<Name>>;
  /** Reviews the changes of a mutation that is not going to run. @throws AppError */
  tryMutation(queries: HistoryQueries, name: MutationName, input: object): Promise<void>;
  /** Reviews a batch of a dry run, whose first movement would get a position. @throws AppError */
  tryBatch(
    queries: Pick<HistoryQueries, 'findProducts'>, batch: StockBatch, first: number,
  ): Promise<void>;
}

export function reviewOf({ review }: Pick<Actor, 'review'>): MutationReview | undefined {
  // The cast: only `makeReview` (working-set/reviewed-mutations.ts) makes reviews.
  return review as MutationReview | undefined;
}

/** Runs mutations, those of writes with a review by it. */
export function reviewing(run: RunMutation, queries: HistoryQueries): RunMutation {
  return (name, input, idempotency) => {
    // The cast: other inputs have no actor with a review.
    const { actor } = input as { readonly actor?: Pick<Actor, 'review'> };
    const review = actor && reviewOf(actor);
    return review ? review.run({ run, queries }, name, input, idempotency)
      : run(name, input, idempotency);
  };
}
