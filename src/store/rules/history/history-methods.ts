/** The methods of the ports that read the history, or change it in many steps. */
import type { CatalogueStore } from '../../catalogue-store.ts';
import type { Store } from '../../store.ts';
import { openImportDryRun, openStockDryRun } from '../../temporary/dry-run.ts';
import { openStreamedStocktake } from '../../temporary/streamed-stocktake.ts';
import type { RunMutation } from '../mutations/registry.ts';
import { listCollapsedChanges } from './collapsed-changes.ts';
import { Ledger } from './ledger.ts';
import { PastCatalogue } from './past-catalogue.ts';
import { pruneHistory, pruneIdempotency } from './pruning-jobs.ts';
import type { HistoryQueries } from './queries.ts';
import { startRevert } from './revert.ts';
import { listTopMovers, sumStockChanges } from './stock-sums.ts';

interface HistoryMethodsOptions {
  readonly queries: HistoryQueries;
  readonly run: RunMutation;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

type HistoryMethods = Pick<Store,
  | 'listMovements' | 'countMovements' | 'listCollapsedChanges' | 'findPreviousSnapshots'
  | 'findPositionAt' | 'listStockAt' | 'listProductsAt' | 'findProductAt' | 'findNewestTime'
  | 'sumStockChanges' | 'listTopMovers' | 'startRevert' | 'pruneHistory' | 'pruneIdempotency'
>;

export function historyMethods(
  { queries, run, clock }: HistoryMethodsOptions,
): HistoryMethods & Pick<CatalogueStore, 'dryRunImport' | 'dryRunStock' | 'openStocktake'> {
  const ledger = new Ledger(queries);
  const past = new PastCatalogue(queries);
  return {
    listMovements: (sellerId, query) => ledger.listMovements(sellerId, query),
    countMovements: (sellerId, query) => ledger.countMovements(sellerId, query),
    listCollapsedChanges: async (sellerId, query) => listCollapsedChanges(
      queries, sellerId, query, await ledger.findSpan(sellerId, { ...query, filter: query }),
    ),
    sumStockChanges: async (sellerId, query) => sumStockChanges(
      queries, sellerId, await ledger.findSpan(sellerId, { ...query, filter: query }),
    ),
    listTopMovers: async (sellerId, query) => listTopMovers(
      queries, sellerId, query, await ledger.findSpan(sellerId, { ...query, filter: query }),
    ),
    findPreviousSnapshots: (sellerId, positions) =>
      ledger.findPreviousSnapshots(sellerId, positions),
    findPositionAt: (sellerId, at) => ledger.findPositionAt(sellerId, at),
    listStockAt: (sellerId, position, query) => past.listStockAt(sellerId, position, query),
    listProductsAt: (sellerId, position, query) => past.listProductsAt(sellerId, position, query),
    findProductAt: (sellerId, target, position) => past.findProductAt(sellerId, target, position),
    findNewestTime: async () => (await queries.findNewestTime()) || undefined,
    startRevert: (write, request) => startRevert({ queries, write, request, run }),
    pruneHistory: (before) => pruneHistory(queries, run, before),
    pruneIdempotency: () => pruneIdempotency(queries, run, clock()),
    dryRunImport: (sellerId, mode) => openImportDryRun(sellerId, mode, queries),
    dryRunStock: (actor, position, source) => openStockDryRun(actor, position, (changes) =>
      queries.readLevels(actor.sellerId, changes, source)),
    openStocktake: (sellerId) => openStreamedStocktake({
      readLevels: (references) => queries.readLevels(sellerId, references, undefined),
      listLevels: (after, limit) => queries.listLevels(sellerId, { after, limit }),
      listExisting: (levels, position) => past.listExisting(sellerId, levels, position),
    }),
  };
}
