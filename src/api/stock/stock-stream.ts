/**
 * Streams any number of stock changes from NDJSON or CSV, in constant memory. Each batch is durable
 * before its results are sent.
 */
import { parseStockChange } from '../../domain/catalogue/stock-change.ts';
import type { StockOrigin } from '../../domain/catalogue/stock-sync.ts';
import { formatImportId, type ImportId } from '../../domain/id.ts';
import type { WriteContext } from '../../store/write.ts';
import { toWriteContext } from '../write.ts';
import type { Reply } from '../../http/response/reply.ts';
import type { CatalogueStore, SyncedStock } from '../../store/catalogue-store.ts';
import { type JsonLine, readJsonLines } from '../../transfer/ndjson.ts';
import type { BatchTarget } from '../../transfer/batches.ts';
import { parseStockColumnMap } from '../../transfer/stock-columns.ts';
import { StockCsvRows, type StockRow } from '../../transfer/stock-rows.ts';
import { invalidQuery } from '../../http/request/query.ts';
import { CSV_TYPE } from '../media-types.ts';
import { parseParameters } from '../parameters.ts';
import type { ApiRequest, Services } from '../route.ts';
import { StockTally } from './stock-result.ts';
import { type BatchReport, ImportParts, ingestStream } from '../ingest.ts';
import { stockSyncParameters } from './stock-operations.ts';

type StreamOptions = ReturnType<typeof parseParameters<typeof stockSyncParameters>>;
type Evaluation = Pick<SyncedStock, 'results' | 'position' | 'isReplay' | 'importId'>;
type StockTarget = BatchTarget<StockRow, Evaluation>;

/** @throws AppError `invalid_query` */
export async function streamStock(call: ApiRequest, services: Services): Promise<Reply> {
  const options = parseParameters(stockSyncParameters, call.query, call.caller);
  const write = toWriteContext(call);
  const { mediaType, chunks } = call.openBody();
  const reader = openReader(mediaType, options);
  return ingestStream(call.openStream, services, () => ({
    slices: reader.read(chunks),
    target: options.dry_run
      ? createDryRunTarget(services.store, call, options)
      : createWriteTarget(services.store, write, options),
    batchReport: createReport(call, reader, options.report === 'all'),
  }));
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
  return {
    ignoredColumns: [],
    read: (chunks) => readJsonLines(chunks, (line) => parseLine(line, hasSource)),
  };
}

function parseLine({ line, characters, ...json }: JsonLine, hasSource: boolean): StockRow {
  const sent = 'issues' in json ? json : parseStockChange(json.value, hasSource);
  return { line, characters, sent };
}

function createWriteTarget(
  store: CatalogueStore, { idempotency, address, ...actor }: WriteContext,
  { source, reason, file_name: fileName }: StreamOptions,
): StockTarget {
  const parts = new ImportParts({ kind: 'stock', source, fileName, address });
  return {
    write(rows, part) {
      const changes = readChanges(rows);
      const context = { ...actor, idempotency: idempotency && { ...idempotency, part } };
      const sync = { changes, source, reason, isAtomic: false, completion: undefined };
      // Batches without a change are written, too: the record counts their rows, and with a key,
      // a different stream under the same key is detected.
      return parts.write(
        { failed: rows.length - changes.length }, rows.length === 0,
        (imported) => store.syncStock({ ...context, import: imported }, sync, false),
      );
    },
    close: async () => {},
  };
}

function createDryRunTarget(
  store: CatalogueStore, { caller }: ApiRequest, { source }: StockOrigin,
): StockTarget {
  const { sellerId, keyId, position } = caller;
  const dryRun = store.dryRunStock({ sellerId, keyId }, position, source);
  return {
    async write(rows) {
      return { ...await dryRun.try(readChanges(rows)), isReplay: false };
    },
    close: () => dryRun.close(),
  };
}

function readChanges(rows: readonly StockRow[]) {
  return rows.flatMap(({ sent }) => ('change' in sent ? sent.change : []));
}

function createReport(
  { caller }: ApiRequest, reader: StockReader, reportsAll: boolean,
): BatchReport<StockRow, Evaluation> {
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
        const members = tally.format(sent, results);
        if (reportsAll || tally.failed > failed) lines += `{"line":${line},${members}}\n`;
      }
      return lines;
    },
    summarise() {
      const { applied, unchanged, failed } = tally;
      return {
        applied, unchanged, failed, position,
        import: importId && formatImportId(caller.sellerId, importId),
        ignored_columns: reader.ignoredColumns.length > 0 ? reader.ignoredColumns : undefined,
      };
    },
  };
}
