/** The methods of the ports that read the history, or change it in many steps. */
import type { SellerId } from '../../../domain/id.ts';
import type { LivedTime } from '../../../runtime/clock.ts';
import type { MovementFilter } from '../../history-store.ts';
import type { Store } from '../../store.ts';
import { openImportDryRun, openStockDryRun } from '../../temporary/dry-run.ts';
import { openStreamedStocktake } from '../../temporary/streamed-stocktake.ts';
import type { RunMutation } from '../mutations/registry.ts';
import { listCollapsedChanges } from './collapsed-changes.ts';
import { findSpan, ledgerMethods } from './ledger.ts';
import { listExisting, pastMethods } from './past-catalogue.ts';
import { pruneHistory, pruneIdempotency } from './pruning-jobs.ts';
import type { HistoryQueries, Span } from './queries.ts';
import { startRevert } from './revert.ts';
import { listTopMovers, sumStockChanges } from './stock-sums.ts';

export function historyMethods(queries: HistoryQueries, run: RunMutation, lived: LivedTime) {
  const spanOf = (sellerId: SellerId, query: Span & Pick<MovementFilter, 'since' | 'until'>) =>
    findSpan(queries, sellerId, query, query);
  return {
    ...ledgerMethods(queries),
    ...pastMethods(queries),
    listCollapsedChanges: async (sellerId, query) =>
      listCollapsedChanges(queries, sellerId, query, await spanOf(sellerId, query)),
    sumStockChanges: async (sellerId, query) =>
      sumStockChanges(queries, sellerId, await spanOf(sellerId, query)),
    listTopMovers: async (sellerId, query) =>
      listTopMovers(queries, sellerId, query, await spanOf(sellerId, query)),
    findNewestTime: async () => (await queries.findNewestTime()) || undefined,
    startRevert: (write, request) => startRevert({ queries, write, request, run }),
    pruneHistory: (before) => pruneHistory(queries, run, before),
    pruneIdempotency: () => pruneIdempotency(queries, run, lived.read()),
    dryRunImport: (actor, mode) => openImportDryRun(actor, mode, queries),
    dryRunStock: (actor, position, source) => openStockDryRun(actor, position, {
      readLevels: (changes) => queries.readLevels(actor.sellerId, changes, source),
      listBarcodeOwners: (gtins) => queries.listBarcodeOwners(actor.sellerId, gtins),
      findProducts: queries.findProducts,
    }),
    openStocktake: (sellerId) => openStreamedStocktake({
      readLevels: (references) => queries.readLevels(sellerId, references, undefined),
      listLevels: (after, limit) => queries.listLevels(sellerId, { after, limit }),
      listExisting: (levels, position) => listExisting({ queries, sellerId, position }, levels),
    }),
  } satisfies Partial<Store>;
}
