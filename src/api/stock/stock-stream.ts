/**
 * Changes of stock in lines of JSON, as many as there are: taken in units, each of which is durable
 * when its results are sent, in constant memory both ways.
 */
import {
  parseStockChange, type SentChange, type StockResult,
} from '../../domain/catalogue/stock-change.ts';
import type { StockOrigin } from '../../domain/catalogue/stock-sync.ts';
import { readIdempotencyKey } from '../write.ts';
import type { Reply } from '../../http/response/reply.ts';
import type { CatalogueStore, SyncedStock } from '../../store/catalogue-store.ts';
import { type JsonLine, NdjsonLines } from '../../transfer/ndjson.ts';
import type { BatchTarget, WrittenBatch } from '../../transfer/batches.ts';
import { parseParameters } from '../parameters.ts';
import type { ApiRequest, Services } from '../route.ts';
import {
  countResult, formatResult, joinResults, type EvaluatedChange, type StockCounts,
} from './stock-result.ts';
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
    slices: new NdjsonLines().read(chunks, (line) => parseLine(line, hasSource)),
    target: options.dry_run
      ? createDryRunTarget(services.store, call, options)
      : createWriteTarget(services.store, call, options, key),
    batchReport: new StockReport(call, options.report === 'all'),
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

/** Counts results, and formats their lines. */
class StockReport implements BatchReport<StockLine, Evaluation> {
  readonly #call: ApiRequest;
  readonly #reportsAll: boolean;
  readonly #counts: StockCounts = { applied: 0, unchanged: 0, failed: 0 };
  #position: number;

  constructor(call: ApiRequest, reportsAll: boolean) {
    this.#call = call;
    this.#reportsAll = reportsAll;
    this.#position = call.caller.position;
  }

  add({ rows, written }: WrittenBatch<StockLine, Evaluation>): string {
    this.#position = written?.position ?? this.#position;
    const results: readonly StockResult[] = written?.results ?? [];
    const evaluated = joinResults(rows.map(({ sent }) => sent), results);
    return evaluated.map((one, index) => this.#addOne(one, rows[index]?.line ?? 0)).join('');
  }

  #addOne(evaluated: EvaluatedChange, line: number): string {
    const { failed } = this.#counts;
    countResult(this.#counts, evaluated);
    if (!this.#reportsAll && this.#counts.failed === failed) return '';
    return `{"line":${line},${formatResult(this.#call.caller.sellerId, evaluated)}}\n`;
  }

  summarise() {
    return { ...this.#counts, position: this.#position };
  }
}
