/**
 * Changes of stock in lines of JSON, as many as there are: taken in units, each of which is durable
 * when its results are sent, in constant memory both ways.
 */
import { parseStockChange, type SentChange } from '../../domain/catalogue/stock-change.ts';
import type { StockOrigin } from '../../domain/catalogue/stock-sync.ts';
import { readIdempotencyKey } from '../write.ts';
import type { Reply } from '../../http/response/reply.ts';
import type { CatalogueStore, SyncedStock } from '../../store/catalogue-store.ts';
import { type JsonLine, readJsonLines } from '../../transfer/ndjson.ts';
import type { BatchTarget } from '../../transfer/batches.ts';
import { parseParameters } from '../parameters.ts';
import type { ApiRequest, Services } from '../route.ts';
import { StockTally } from './stock-result.ts';
import { ingestStream, type BatchReport } from '../ingest.ts';
import { stockSyncParameters } from './stock-operations.ts';

interface StockLine {
  readonly line: number;
  readonly characters: number;
  readonly sent: SentChange;
}

type Evaluation = Pick<SyncedStock, 'results' | 'position' | 'isReplay'>;
type StockTarget = BatchTarget<StockLine, Evaluation>;

export async function streamStock(call: ApiRequest, services: Services): Promise<Reply> {
  const options = parseParameters(stockSyncParameters, call.query, call.caller);
  const key = readIdempotencyKey(call.headers);
  const { chunks } = call.openBody();
  const hasSource = options.source !== undefined;
  return ingestStream(call.openStream, services, () => ({
    slices: readJsonLines(chunks, (line) => parseLine(line, hasSource)),
    target: options.dry_run
      ? createDryRunTarget(services.store, call, options)
      : createWriteTarget(services.store, call, options, key),
    batchReport: createReport(call, options.report === 'all'),
  }));
}

function parseLine({ line, characters, ...json }: JsonLine, hasSource: boolean): StockLine {
  const sent = 'issues' in json ? json : parseStockChange(json.value, hasSource);
  return { line, characters, sent };
}

function createWriteTarget(
  store: CatalogueStore, { caller: { sellerId, keyId } }: ApiRequest,
  { source, reason }: StockOrigin, key: string | undefined,
): StockTarget {
  return {
    write(rows, part) {
      const changes = readChanges(rows);
      // With a key, every unit and the end of the file leave records: so that another file under
      // the same key can be distinguished from the first one.
      if (changes.length === 0 && key === undefined) return undefined;
      const idempotency = key === undefined ? undefined : { key, part };
      const sync = { changes, source, reason, isAtomic: false, completion: undefined };
      return store.syncStock({ sellerId, keyId, idempotency }, sync, false);
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

function readChanges(rows: readonly StockLine[]) {
  return rows.flatMap(({ sent }) => ('change' in sent ? sent.change : []));
}

/** Formats the lines of results, and counts them. */
function createReport(
  { caller }: ApiRequest, reportsAll: boolean,
): BatchReport<StockLine, Evaluation> {
  const tally = new StockTally(caller.sellerId);
  let { position } = caller;
  return {
    add({ rows, written }) {
      position = written?.position ?? position;
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
      return { applied, unchanged, failed, position };
    },
  };
}
