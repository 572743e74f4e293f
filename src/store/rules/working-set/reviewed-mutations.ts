/**
 * Runs the mutations of writes that have a review: on rows that were read, without a transaction,
 * where the review sees each change; and then in the store, with the verdicts. If the products have
 * changed in between, both are repeated, those of one seller one after the other.
 */
import type { Sku } from '../../../domain/catalogue/product-fields.ts';
import { AppError, type Issue } from '../../../domain/error.ts';
import type { ProductId, SellerId } from '../../../domain/id.ts';
import { formatCount } from '../../../domain/wording.ts';
import { yieldToEventLoop } from '../../../runtime/event-loop.ts';
import {
  REVIEW_ATTEMPTS_LIMIT, REVIEW_ISSUES_LIMIT, STOCKTAKE_STEP_PRODUCTS,
} from '../../limits.ts';
import type { ChangeToReview, Idempotency, Review } from '../../write.ts';
import type { HistoryQueries } from '../history/queries.ts';
import type { WriteActor } from '../mutations/import-records.ts';
import type { MutationReview, ReviewedStore } from '../mutations/mutation-review.ts';
import type { MutationInput, MutationName, MutationOutput } from '../mutations/registry.ts';
import {
  type ChangeChecks, encodePrevious, isOutdated, outdated, RejectedChange, type Verdict,
} from '../review.ts';
import type { StockBatch } from '../stock-batch.ts';
import { StockLevelCache } from '../stock-levels.ts';
import { loadNamed } from './load-named.ts';
import { NotLoadedError } from './loaded-levels.ts';
import type { CatalogueMutationName } from './named-rows.ts';
import { WorkingSet } from './working-set.ts';

/** What a review decided on a mutation. */
interface Reviewed {
  readonly verdicts: readonly Verdict[];
  /** Why nothing may be written; undefined if it may. */
  readonly error: unknown;
}

/** Mutations that change products have these members, or some of them. */
interface Input {
  readonly actor: WriteActor;
  readonly reason?: string | undefined;
  readonly isDryRun?: boolean;
}

/** @param ask As of `Review`. */
export function makeReview(ask: Review['ask']): Review {
  const inTurn = makeTurns();
  const review: MutationReview = {
    ask,
    async run(store, name, input, idempotency) {
      const attempt = () => runOnce(ask, store, name, input, idempotency);
      // The cast: only mutations of the catalogue have an actor with a review.
      const { actor: { sellerId } } = input as unknown as Input;
      const { outcome } = await attempt() ?? await inTurn(sellerId, () => repeat(attempt));
      // The cast: it is the outcome of this mutation, which is no promise.
      return outcome as never;
    },
    async tryMutation(queries, name, input) {
      const { error } = await reviewMutation(ask, queries, name, { ...input, isDryRun: true });
      if (error !== undefined) throw error;
    },
    async tryBatch(queries, batch, first) {
      const reviewer = new Reviewer(ask, { actor: batch.context.actor, isDryRun: true }, false);
      reviewer.checkMovements(batch, first);
      const { error } = await reviewer.conclude(queries);
      if (error !== undefined) throw error;
    },
  };
  return review;
}

/** Undefined if the products have changed since they were read. */
async function runOnce<Name extends MutationName>(
  ask: Review['ask'], { run, queries }: ReviewedStore, name: Name,
  input: MutationInput<Name>, idempotency: Idempotency | undefined,
): Promise<{ readonly outcome: MutationOutput<Name> } | undefined> {
  const { verdicts, error } = await reviewMutation(ask, queries, name, input);
  // The cast: only mutations of the catalogue have an actor with a review.
  const { actor: { review: _, ...actor }, isDryRun = false } = input as unknown as Input;
  // A retry gets its recorded outcome: with no verdicts, the mutation can change nothing.
  if (error !== undefined && (idempotency === undefined || isDryRun)) throw error;
  const admitted = { ...actor, verdicts: error === undefined ? verdicts : [] };
  try {
    return { outcome: await run(name, { ...input, actor: admitted }, idempotency) };
  } catch (failure) {
    if (!isOutdated(failure)) throw failure;
    if (error !== undefined) throw error;
    return undefined;
  }
}

/** @throws AppError `unavailable` after the last attempt */
async function repeat<Result>(attempt: () => Promise<Result | undefined>): Promise<Result> {
  for (let attempts = 1; attempts < REVIEW_ATTEMPTS_LIMIT; attempts += 1) {
    const result = await attempt();
    if (result) return result;
  }
  const detail = 'The products of this write keep changing. Nothing was changed; try again.';
  throw new AppError('unavailable', detail, { retryAfterSeconds: 1 });
}

/** Returns a function that runs the work of one seller one after the other. */
function makeTurns() {
  const last = new Map<SellerId, Promise<unknown>>();
  return <Result>(sellerId: SellerId, work: () => Promise<Result>): Promise<Result> => {
    const result = (last.get(sellerId) ?? Promise.resolve()).then(work);
    const turn = result.catch(() => {}).then(() => {
      if (last.get(sellerId) === turn) last.delete(sellerId);
    });
    last.set(sellerId, turn);
    return result;
  };
}

/** Reviews the changes that a mutation would make. Their times are not known yet. */
async function reviewMutation(
  ask: Review['ask'], queries: HistoryQueries, name: MutationName, input: unknown,
): Promise<Reviewed> {
  // The casts: only mutations of the catalogue have an actor with a review.
  const { actor: { import: _, ...actor }, ...members } = input as Input;
  const mutation = name as CatalogueMutationName;
  const { reason, isDryRun = false } = members;
  const reviewer = new Reviewer(ask, { actor, reason, isDryRun }, name === 'importProducts');
  try {
    const call = { name: mutation, input: { ...members, actor }, idempotency: undefined };
    const seller = await loadNamed(queries, actor.sellerId, call);
    const mutations = new WorkingSet(new Map([[actor.sellerId, seller]]))
      .prepareMutations(new StockLevelCache());
    // The cast: the input is the one of the mutation.
    const mutate = mutations[mutation] as (input: unknown, at: number) => unknown;
    mutate({ ...members, isDryRun: false, actor: { ...actor, checks: reviewer } }, 0);
  } catch (error) {
    // The mutation will fail in the store, too, or is a retry, or the rows were of two moments.
    const isExpected = error instanceof AppError || error instanceof NotLoadedError;
    if (!isExpected && error !== reviewer.failure) throw error;
  }
  return reviewer.conclude(queries);
}

type Movement = StockBatch['movements'][number] & Pick<ChangeToReview, 'source'>;
type Origin = Omit<ChangeToReview, 'type' | 'before' | 'after' | 'source'>;

/** Admits all changes of a mutation, except rejected rows of an import, and notes them. */
class Reviewer implements ChangeChecks {
  readonly #ask: Review['ask'];
  readonly #origin: Origin;
  /** Whether a rejected change does not reject the others. */
  readonly #isImport: boolean;
  readonly #verdicts: Verdict[] = [];
  readonly #rejections: (readonly [Sku, string])[] = [];
  readonly #movements: Movement[] = [];
  #start: number | undefined;
  /** What the review has thrown. */
  failure: unknown;

  constructor(ask: Review['ask'], origin: Origin, isImport: boolean) {
    this.#ask = ask;
    this.#origin = origin;
    this.#isImport = isImport;
  }

  checkProduct(
    { previousPosition, ...change }: Parameters<ChangeChecks['checkProduct']>[0],
  ): void {
    const { before, after } = change;
    const rejection = this.#review({ ...this.#origin, ...change });
    const reason = this.#isImport ? rejection ?? null : null;
    this.#note((before ?? after).sku, previousPosition, after.stock, reason, after.position);
    if (reason !== null) throw new RejectedChange(reason);
  }

  /** Levels are no whole products: those are read afterwards. */
  checkMovements({ movements, context: { origin: { source } } }: StockBatch, first: number): void {
    for (const [index, movement] of movements.entries()) {
      const { sku, previousPosition, after } = movement;
      this.#note(sku, previousPosition, after, null, first + index);
      this.#movements.push({ ...movement, source });
    }
  }

  /** Reviews the movements. */
  async conclude(queries: Pick<HistoryQueries, 'findProducts'>): Promise<Reviewed> {
    try {
      await this.#reviewMovements(queries);
    } catch (error) {
      if (isOutdated(error)) return { verdicts: [], error: undefined };
      if (error !== this.failure) throw error;
    }
    const isRejected = !this.#isImport && this.#rejections.length > 0;
    const error = this.failure ?? (isRejected ? rejected(this.#rejections) : undefined);
    return { verdicts: this.#verdicts, error };
  }

  async #reviewMovements({ findProducts }: Pick<HistoryQueries, 'findProducts'>): Promise<void> {
    const { actor: { sellerId }, isDryRun } = this.#origin;
    const seen = new Set<ProductId>();
    for (let start = 0; start < this.#movements.length; start += STOCKTAKE_STEP_PRODUCTS) {
      if (start > 0) await yieldToEventLoop();
      const batch = this.#movements.slice(start, start + STOCKTAKE_STEP_PRODUCTS);
      const ids = [...new Set(batch.map(({ productId }) => productId))];
      const products = await findProducts(sellerId, ids);
      for (const { productId, before: stock, after, previousPosition, ...members } of batch) {
        const product = products.get(productId);
        // A dry run may follow others, whose positions do not exist.
        const isRead = isDryRun || seen.has(productId) || product?.position === previousPosition;
        if (!product || !isRead) throw outdated();
        seen.add(productId);
        const before = { ...product, stock, position: previousPosition };
        const { reason, source } = members;
        const states = { before, after: { ...before, stock: after } };
        this.#review({ ...this.#origin, type: 'stock', ...states, reason, source });
      }
    }
  }

  #note(
    sku: Sku, previous: number | undefined, stock: number, reason: string | null, position: number,
  ): void {
    this.#start ??= position - 1;
    this.#verdicts.push([sku, encodePrevious(previous, this.#start), stock, reason]);
  }

  #review(change: ChangeToReview): string | undefined {
    try {
      const reason = this.#ask(change);
      if (reason !== undefined) this.#rejections.push([change.after.sku, reason]);
      return reason;
    } catch (error) {
      this.failure = error;
      throw error;
    }
  }
}

function rejected(rejections: readonly (readonly [Sku, string])[]): AppError {
  const issues = rejections.slice(0, REVIEW_ISSUES_LIMIT).map(([sku, reason]): Issue =>
    ({ pointer: '', code: 'rejected', detail: `${JSON.stringify(sku)}: ${reason}` }));
  const which = rejections.length === 1 ? 'The change of a product was rejected'
    : `${formatCount(rejections.length)} changes were rejected, the first`;
  const detail = `${which}: ${issues[0]?.detail} Nothing was changed.`;
  return new AppError('write_rejected', detail, { issues });
}
