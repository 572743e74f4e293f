/**
 * Streams any number of stock changes from NDJSON or CSV, in constant memory. Each batch is durable
 * before its results are sent.
 */
import { formatImportId, type ImportId } from '../../domain/id.ts';
import type { WriteContext } from '../../store/write.ts';
import { toWriteContext } from '../write.ts';
import type { Reply } from '../../http/response/reply.ts';
import { parseStockColumnMap } from '../../transfer/stock-columns.ts';
import { StockCsvRows, StockNdjsonRows, type StockRow } from '../../transfer/stock-rows.ts';
import { invalidQuery } from '../../http/request/query.ts';
import { CSV_TYPE } from '../media-types.ts';
import { parseParameters } from '../parameters.ts';
import type { ApiRequest, Services } from '../route.ts';
import { StockTally } from './stock-result.ts';
import { type BatchReport, formatLine, ingestStream } from '../ingest.ts';
import { stockSyncParameters } from './stock-operations.ts';
import {
  createDryRunTarget, createWriteTarget, type StockTarget, type WrittenStock,
} from './stock-targets.ts';
import { createStocktakeTarget } from './stocktake-stream.ts';

type StreamOptions = ReturnType<typeof parseParameters<typeof stockSyncParameters>>;

/** @throws AppError `invalid_query` */
export async function streamStock(call: ApiRequest, services: Services): Promise<Reply> {
  const options = parseParameters(stockSyncParameters, call.query, call.caller);
  assertStocktake(call, options);
  const write = toWriteContext(call);
  const { mediaType, chunks } = call.openBody();
  const reader = openReader(mediaType, options);
  return ingestStream(call.openStream, services, () => ({
    slices: reader.read(chunks),
    target: openTarget(services, call, write, options),
    batchReport: createReport(call, reader, options),
  }));
}

/** Guards of zeroing mean that a stocktake was intended. */
function assertStocktake({ query }: ApiRequest, { complete, force }: StreamOptions): void {
  if (complete) return;
  const guards = [...query.has('zero_limit') ? ['zero_limit'] : [], ...force ? ['force'] : []];
  if (guards.length === 0) return;
  const detail = 'Is for stocktakes only. Send complete=true, too.';
  throw invalidQuery(guards.map((parameter) => ({ parameter, code: 'mismatch', detail })));
}

function openTarget(
  { store }: Services, call: ApiRequest, write: WriteContext, options: StreamOptions,
): StockTarget {
  const { sellerId, position } = call.caller;
  const { dry_run: isDryRun, complete: isStocktake, file_name: fileName } = options;
  const target = isDryRun ? createDryRunTarget(store, call.caller, options)
    : createWriteTarget(store, write, { ...options, fileName, isStocktake });
  if (!isStocktake) return target;
  return createStocktakeTarget({
    target, isDryRun, position, stocktake: store.openStocktake(sellerId),
    override: 'raise zero_limit or send force=true',
    zeroLimitPercent: options.force ? 100 : options.zero_limit,
  });
}

type StockReader = Pick<StockCsvRows, 'read' | 'ignoredColumns'>;

function openReader(mediaType: string, { map, source }: StreamOptions): StockReader {
  const hasSource = source !== undefined;
  if (mediaType === CSV_TYPE) {
    return new StockCsvRows({
      map: map === undefined ? new Map() : parseStockColumnMap(map), hasSource,
    });
  }
  if (map !== undefined) {
    const detail = 'Applies to CSV only, since NDJSON names its members.';
    throw invalidQuery([{ parameter: 'map', code: 'unknown', detail }]);
  }
  return new StockNdjsonRows(hasSource);
}

function createReport(
  { caller }: ApiRequest, reader: StockReader, { report, complete: isStocktake }: StreamOptions,
): BatchReport<StockRow, WrittenStock> {
  const reportsAll = report === 'all';
  const tally = new StockTally(caller.sellerId);
  let { position } = caller;
  let importId: ImportId | undefined;
  return {
    add({ rows, written }) {
      position = written?.position ?? position;
      importId ??= written?.importId;
      const results = (written?.results ?? []).values();
      let lines = '';
      for (const { line, sent } of rows) {
        const { failed } = tally;
        const result = tally.describe(sent, results);
        if (reportsAll || tally.failed > failed) lines += formatLine({ line, ...result });
      }
      // What is left are the products that a stocktake has zeroed.
      for (const result of results) {
        const zeroed = tally.describeZeroed(result);
        if (reportsAll && zeroed) lines += formatLine({ line: null, ...zeroed });
      }
      return lines;
    },
    summarise() {
      const { applied, unchanged, failed, zeroed } = tally;
      return {
        applied, unchanged, failed, ...(isStocktake && { zeroed }), position,
        import: importId && formatImportId(caller.sellerId, importId),
        ignored_columns: reader.ignoredColumns.length > 0 ? reader.ignoredColumns : undefined,
      };
    },
  };
}
