/**
 * Reviews of changes: a program that embeds the server may look at each change before it is
 * written, and reject it. The review runs on rows that were read (`reviewed-mutations.ts`); then
 * the mutation may make exactly the changes that were admitted, to products that are still at the
 * positions at which they were read. Otherwise it changes nothing, and is reviewed again.
 */
import type { Sku } from '../../domain/catalogue/product-fields.ts';
import { AppError } from '../../domain/error.ts';
import type { ProductId } from '../../domain/id.ts';
import type { ChangeToReview } from '../write.ts';

/** A change that a mutation is about to make. */
interface PlannedChange extends Pick<ChangeToReview, 'type' | 'before' | 'after'> {
  readonly previousPosition: number | undefined;
}

/** A change of stock that it is about to make. */
export interface PlannedMovement {
  readonly productId: ProductId;
  readonly sku: Sku;
  readonly before: number;
  readonly after: number;
  /** Position of the product's last change before this one. */
  readonly previousPosition: number;
  readonly reason: string | undefined;
}

/** Those of a batch (`StockBatch`). */
interface PlannedMovements {
  readonly movements: readonly PlannedMovement[];
  readonly context: { readonly origin: Pick<ChangeToReview, 'source'> };
}

/**
 * What was decided on a change: the SKU that the product has before it, the position of its
 * previous change (see `encodePrevious`), its stock afterwards, and why it is rejected.
 */
export type Verdict =
  readonly [sku: Sku, previous: number, stock: number, reason: string | null];

/** Called with every change before it is written. */
export interface ChangeChecks {
  /** @throws RejectedChange */
  checkProduct(change: PlannedChange): void;
  /** `first`: the position that the first movement of the batch gets. */
  checkMovements(batch: PlannedMovements, first: number): void;
}

/** The change was rejected; its message is the reason. Nothing of it was written. */
export class RejectedChange extends Error {
  override readonly name = 'RejectedChange';
}

const OUTDATED = 'The products have changed since this write was reviewed.';

export function outdated(): AppError {
  return new AppError('precondition_failed', OUTDATED);
}

/** Recognized by its detail: errors cross threads as a code and a detail. */
export function isOutdated(error: unknown): boolean {
  return error instanceof AppError && error.publicDetail === OUTDATED;
}

/**
 * A previous change in the same mutation has another position in every attempt, so it counts from
 * the start of the mutation, below 0; 0 if there is none.
 */
export function encodePrevious(previous: number | undefined, start: number): number {
  if (previous === undefined) return 0;
  return previous > start ? start - previous : previous;
}

/** Admits the changes of verdicts, in their order, and no others. */
class VerdictChecks implements ChangeChecks {
  readonly #verdicts: readonly Verdict[];
  #next = 0;
  #start: number | undefined;

  constructor(verdicts: readonly Verdict[]) {
    this.#verdicts = verdicts;
  }

  checkProduct({ before, after, previousPosition }: PlannedChange): void {
    const { sku } = before ?? after;
    const reason = this.#take(sku, previousPosition, after.stock, after.position);
    if (reason !== null) throw new RejectedChange(reason);
  }

  checkMovements({ movements }: PlannedMovements, first: number): void {
    for (const [index, { sku, previousPosition, after }] of movements.entries()) {
      this.#take(sku, previousPosition, after, first + index);
    }
  }

  /** @throws AppError (`outdated`) */
  #take(
    sku: Sku, previous: number | undefined, stock: number, position: number,
  ): string | null {
    this.#start ??= position - 1;
    const verdict = this.#verdicts[this.#next];
    this.#next += 1;
    if (verdict?.[0] === sku && verdict[1] === encodePrevious(previous, this.#start)
      && verdict[2] === stock) return verdict[3];
    throw outdated();
  }
}

/** The input for one run of a mutation, whose changes must be those of its verdicts, if any. */
export function withChecks<Input>(input: Input): Input {
  // The cast: inputs without an actor of a write have no verdicts.
  const { actor } = input as { readonly actor?: { readonly verdicts?: readonly Verdict[] } };
  if (!actor?.verdicts) return input;
  return { ...input, actor: { ...actor, checks: new VerdictChecks(actor.verdicts) } };
}
