/**
 * Handlers of stock: the stock of all products, now or at an earlier position; and changes of many
 * products, up to 10,000 in one JSON document as one mutation, or any number as a stream. A failed
 * change does not stop the others, unless the request is atomic.
 */
import {
  CONCURRENT_LARGE_STOCK_REQUESTS_LIMIT, CONCURRENT_LARGE_STOCK_REQUESTS_PER_SELLER_LIMIT,
  SPOOLED_BODY_LIMIT_BYTES, STOCK_BODY_LIMIT_BYTES,
} from '../limits.ts';
import { STOCK_SLICE_CHANGES } from '../../domain/limits.ts';
import type { SentChange } from '../../domain/catalogue/stock-change.ts';
import {
  parseStockSync, STOCK_SYNC_VALIDATORS, type StockSync,
} from '../../domain/catalogue/stock-sync.ts';
import { AppError } from '../../domain/error.ts';
import { yieldToEventLoop } from '../../runtime/event-loop.ts';
import { formatImportId, formatProductId, type ImportId, type SellerId } from '../../domain/id.ts';
import { ConcurrencyLimiter } from '../../domain/concurrency-limiter.ts';
import { BODY_LIMIT_BYTES } from '../../http/limits.ts';
import { negotiate } from '../../http/request/negotiate.ts';
import { invalidQuery } from '../../http/request/query.ts';
import { type Reply, replyJson } from '../../http/response/reply.ts';
import type { SyncedStock } from '../../store/catalogue-store.ts';
import { JSON_TYPE, NDJSON_TYPE } from '../media-types.ts';
import { assertNoCsvParameters, isTable, toFileOptions } from '../csv-parameters.ts';
import { parseParameters } from '../parameters.ts';
import { type ApiRequest, type Services, STOCK } from '../route.ts';
import { DuplicateLevels } from './duplicate-levels.ts';
import { explainZeroLimit, StockTally } from './stock-result.ts';
import { stockListParameters, stockSyncParameters } from './stock-operations.ts';
import { replayHeader, toWriteContext } from '../write.ts';
import { TemporaryFile } from '../../store/temporary/temporary-file.ts';
import type { WriteContext } from '../../store/write.ts';
import { listNotes } from '../../transfer/import-notes.ts';
import { parseStockColumnMap } from '../../transfer/stock-columns.ts';
import {
  makeStockCsvReader, makeStockNdjsonReader, type StockReader, type StockRow,
} from '../../transfer/stock-rows.ts';
import { type BatchReport, formatLine, ingestStream, nonEmpty } from '../ingest.ts';
import {
  createDryRunTarget, createWriteTarget, type StockTarget, type WrittenStock,
} from './stock-targets.ts';
import { createStocktakeTarget } from './stocktake-stream.ts';
import type { StockLevelAt } from '../../store/history-store.ts';
import { formatCsvRow } from '../../transfer/csv-cells.ts';
import { chooseMediaType } from '../list.ts';
import { replyPastList } from '../products/past-list.ts';

/** GET /api/v1/stock: 200, 400, 406, 410 */
export async function listStock(call: ApiRequest, services: Services): Promise<Reply> {
  const { at: moment, limit, format } = parseParameters(
    stockListParameters, call.query, call.caller,
  );
  const { sellerId } = call.caller;
  return replyPastList<StockLevelAt>(call, services, {
    path: STOCK, kind: 'stock', moment, limit,
    mediaType: chooseMediaType(call, format),
    headers: { 'cache-control': 'no-store' },
    columns: ['id', 'sku', 'stock', 'position'],
    formatRow: ({ id, sku, stock, position }) =>
      formatCsvRow([formatProductId(sellerId, id), sku, stock, position]),
    formatJson: ({ id, sku, stock, position }) =>
      `{"id":"${formatProductId(sellerId, id)}","sku":${JSON.stringify(sku)}`
      + `,"stock":${stock},"position":${position}}`,
    formatMembers: (levels, position) => `"stock":[${levels}],"position":${position}`,
    async read(position, query) {
      const { levels, hasMore } = await services.store.listStockAt(sellerId, position, query);
      return { items: levels, hasMore };
    },
  });
}

/** POST /api/v1/stock: 200, 400, 406, 409, 413, 422, 503 */
export async function syncStock(call: ApiRequest, services: Services): Promise<Reply> {
  const mediaType = call.readMediaType();
  const isStream = mediaType !== JSON_TYPE;
  negotiate(call.headers.accept, [isStream ? NDJSON_TYPE : JSON_TYPE]);
  if (isStream) return streamStock(call, services);
  // A request without Content-Length may have a body of any length.
  const bytes = Number(call.headers['content-length'] ?? Infinity);
  if (bytes <= BODY_LIMIT_BYTES) return syncAtOnce(call, services);
  // Before reading: the body and the parsed changes stay in memory until the writer is free.
  const release = services.instances.get(createLargeRequestLimiter).acquire(call.caller.sellerId);
  try {
    return await syncAtOnce(call, services);
  } finally {
    release();
  }
}

function createLargeRequestLimiter(): ConcurrencyLimiter<SellerId> {
  return new ConcurrencyLimiter('large stock requests', {
    total: CONCURRENT_LARGE_STOCK_REQUESTS_LIMIT,
    perOwner: CONCURRENT_LARGE_STOCK_REQUESTS_PER_SELLER_LIMIT,
  });
}

async function syncAtOnce(call: ApiRequest, { store }: Services): Promise<Reply> {
  const isDryRun = parseDryRun(call);
  const { entries, sync } = await parseStockSync(await call.readJson(STOCK_BODY_LIMIT_BYTES));
  const write = toWriteContext(call);
  const context = isDryRun ? { ...write, idempotency: undefined }
    : withImport(write, entries, sync);
  const synced = await store.syncStock(context, sync, isDryRun);
  const tally = new StockTally(call.caller.sellerId);
  const results = await formatResults(tally, entries, synced);
  const { completion } = sync;
  const { zeroed, position, importId } = synced;
  const format = (applied: number, zeroedNow: number): string =>
    `"results":[${results}],"applied":${applied},"failed":${tally.failed}`
    + `${completion ? `,"zeroed":${zeroedNow}` : ''},"position":${position}`
    + (importId ? `,"import":"${formatImportId(call.caller.sellerId, importId)}"` : '');
  if (synced.rejection) {
    const reason = synced.rejection === 'failures'
      ? `${tally.failed} of ${entries.length} changes failed, and the request is atomic.`
      : explainZeroLimit(
        zeroed, completion?.zeroLimitPercent ?? 0, 'raise zero_limit or set force to true',
      );
    throw new AppError('sync_refused', `${reason} Nothing was changed.`, { members: format(0, 0) });
  }
  return replyJson(`{${format(tally.applied, zeroed)}}`, replayHeader(synced.isReplay));
}

/** The whole sync is one part. */
function withImport(
  write: WriteContext, entries: readonly SentChange[], { changes, completion, source }: StockSync,
): WriteContext {
  const kind = completion ? 'stocktake' : 'stock';
  const record = { kind, source, address: write.address } as const;
  const counts = { failed: entries.length - changes.length };
  return { ...write, import: { id: undefined, record, counts, isLast: true } };
}

/** @throws AppError `invalid_query`, also for a parameter of streams */
function parseDryRun({ query, caller }: ApiRequest): boolean {
  const others = [...query.keys()].filter((parameter) => parameter !== 'dry_run');
  if (others.length === 0) return parseParameters(stockSyncParameters, query, caller).dry_run;
  throw invalidQuery(others.map((parameter) => ({
    parameter, code: 'mismatch',
    detail: Object.hasOwn(STOCK_SYNC_VALIDATORS, parameter)
      ? 'Is for NDJSON and CSV only. In JSON, send it as a member of the body.'
      : 'Is for NDJSON and CSV only.',
  })));
}

/** Yields between slices: there may be 10,000 results, each with errors. */
async function formatResults(
  tally: StockTally, entries: readonly SentChange[], synced: SyncedStock,
): Promise<string> {
  const results = synced.results.values();
  let text = '';
  for (let start = 0; start < entries.length; start += STOCK_SLICE_CHANGES) {
    if (start > 0) await yieldToEventLoop();
    const slice = entries.slice(start, start + STOCK_SLICE_CHANGES);
    const list = JSON.stringify(slice.map((change) => tally.describe(change, results)));
    text += `${start > 0 ? ',' : ''}${list.slice(1, -1)}`;
  }
  return text;
}

type StreamOptions = ReturnType<typeof parseParameters<typeof stockSyncParameters>>;

/**
 * Streams any number of changes from NDJSON or CSV, in constant memory. Each batch is durable
 * before its results are sent.
 * @throws AppError `invalid_query`
 */
async function streamStock(call: ApiRequest, services: Services): Promise<Reply> {
  const options = parseParameters(stockSyncParameters, call.query, call.caller);
  assertStocktake(call, options);
  const write = toWriteContext(call);
  const { mediaType, chunks } = call.openBody();
  const reader = openReader(mediaType, options);
  return ingestStream(call.openStream, services, () => {
    const duplicates = new DuplicateLevels(
      services.store, call.caller.sellerId, options.duplicates,
    );
    return {
      slices: !options.duplicates.endsWith('_all') ? duplicates.find(reader.read(chunks))
        : readTwice(chunks, (file) => duplicates.find(
          reader.read(file.read()), openReader(mediaType, options).read(file.read()),
        )),
      target: openTarget(services, call, write, options),
      batchReport: createReport(call, reader, duplicates, options),
    };
  });
}

/** The slots of imports limit how many bodies are kept. */
async function* readTwice<Slice>(
  chunks: AsyncIterable<Uint8Array>, read: (file: TemporaryFile) => AsyncIterable<Slice>,
): AsyncGenerator<Slice, void, void> {
  const remedy = 'Nothing was applied. Split it, and keep the rows of each product together.';
  const file = await TemporaryFile.spool(chunks, SPOOLED_BODY_LIMIT_BYTES, remedy);
  try {
    yield* read(file);
  } finally {
    await file.close();
  }
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
    override: 'raise zero_limit or set force to true',
    zeroLimitPercent: options.force ? 100 : options.zero_limit,
  });
}

function openReader(mediaType: string, options: StreamOptions): StockReader {
  const { map, source, complete: isStocktake, file_name: fileName } = options;
  const settings = { hasSource: source !== undefined, isStocktake, fileName };
  if (isTable(mediaType)) {
    return makeStockCsvReader({
      ...settings, map: map === undefined ? new Map() : parseStockColumnMap(map),
      isSum: options.duplicates.startsWith('sum'), ...toFileOptions(options),
    });
  }
  assertNoCsvParameters(options, ['map']);
  return makeStockNdjsonReader(settings);
}

function createReport(
  { caller }: ApiRequest, reader: StockReader, duplicates: DuplicateLevels,
  { report, complete: isStocktake, dry_run: isDryRun }: StreamOptions,
): BatchReport<StockRow, WrittenStock> {
  const reportsAll = report === 'all';
  const tally = new StockTally(caller.sellerId);
  let { position } = caller;
  let importId: ImportId | undefined;
  return {
    isDryRun,
    add({ rows, written }) {
      position = written?.position ?? position;
      importId ??= written?.importId;
      const results = (written?.results ?? []).values();
      let lines = '';
      for (const { line, entry } of rows) {
        const { failed } = tally;
        const result = tally.describe(entry, results);
        if (reportsAll || tally.failed > failed) lines += formatLine({ line, ...result });
      }
      // What is left are the products that a stocktake has zeroed.
      for (const result of results) {
        const zeroed = tally.describeZeroed(result);
        if (reportsAll && zeroed) lines += formatLine({ line: null, ...zeroed });
      }
      return lines;
    },
    summarise(isComplete) {
      const { applied, unchanged, failed, zeroed, unknownIds } = tally;
      const counts = { applied, unchanged, failed, ...(isStocktake && { zeroed }) };
      const ids = unknownIds > 0 && { unknown_ids: unknownIds };
      return {
        ...counts, ...ids, position,
        import: importId && formatImportId(caller.sellerId, importId),
        duplicates: duplicates.summary?.count, duplicate_rows: duplicates.summary?.first,
        ignored_columns: nonEmpty(reader.ignoredColumns),
        notes: isComplete ? listNotes(counts, { ...ids }, reader.notes) : undefined,
      };
    },
  };
}
