/**
 * Long writes in batches: of bodies of any length, and of reverts. The response is a stream: lines
 * for the rows, then a summary or a problem.
 */
import type { ImportCounts, NewImport } from '../domain/catalogue/import.ts';
import type { ImportId } from '../domain/id.ts';
import type { GuardedStream } from '../http/response/guarded-stream.ts';
import { describeProblem } from '../http/response/problem.ts';
import type { Reply } from '../http/response/reply.ts';
import type { ImportPart, ImportReference } from '../store/write.ts';
import { type RowStream, type WrittenBatch, writeBatches } from '../transfer/batches.ts';
import { REPORT_SILENCE_LIMIT_MS } from './limits.ts';
import { NDJSON_TYPE } from './media-types.ts';
import type { Services } from './route.ts';
import type { OpenStream } from './streams.ts';
import { replayHeader } from './write.ts';

/** White space before JSON means nothing, but it keeps clients and proxies from giving up. */
const SPACE = ' ';

/** The parts of an import, which its mutations write one after the other. */
export function makeImportParts(record: NewImport) {
  let id: ImportId | undefined;
  return {
    /** The import; undefined until its first part is written. */
    get id(): ImportId | undefined { return id; },
    /**
     * Writes the next part. `counts`: rows that the store does not see, such as rejected ones.
     * Start a part only after the previous one has been written: the first one creates the record.
     */
    async write<Written extends ImportReference>(
      counts: ImportCounts, isLast: boolean, write: (part: ImportPart) => Promise<Written>,
    ): Promise<Written> {
      const written = await write({ id, record, counts, isLast });
      id ??= written.importId;
      return written;
    },
  };
}

/** Collects the results. */
export interface BatchReport<Row, Written> {
  readonly isDryRun: boolean;
  /** Counts a batch, and returns the lines for its rows. */
  add(batch: WrittenBatch<Row, Written>): string;
  /** @param isComplete Whether the stream reached its end. */
  summarise(isComplete: boolean): object;
}

interface ReportedStream<Row, Written> extends Omit<RowStream<Row, Written>, 'guard'> {
  readonly batchReport: BatchReport<Row, Written>;
}

type Batches<Row, Written> = AsyncGenerator<WrittenBatch<Row, Written>, void, void>;

/**
 * Starts an import and returns a response that streams its results. Calls `open` once the import
 * has a slot.
 * @throws AppError if the file as a whole is invalid, or too many imports are in flight
 */
export function ingestStream<
  Row extends { readonly characters: number }, Written extends { readonly isReplay: boolean },
>(
  openStream: OpenStream, services: Services, open: () => ReportedStream<Row, Written>,
): Promise<Reply> {
  return reportBatches(openStream, services, (guard) => {
    const { batchReport, ...rows } = open();
    return { batches: writeBatches({ ...rows, guard }), batchReport };
  });
}

/**
 * Returns a response that streams the results of batches. Calls `open` once they have a slot.
 * @throws AppError if the first batch fails, or too many imports are in flight
 */
export function reportBatches<Row, Written extends { readonly isReplay: boolean }>(
  openStream: OpenStream, services: Services,
  open: (guard: GuardedStream) => {
    readonly batches: Batches<Row, Written>; readonly batchReport: BatchReport<Row, Written>;
  },
): Promise<Reply> {
  return openStream('ingest', async (guard) => {
    const { batches, batchReport } = open(guard);
    const first = await batches.next();
    const isReplay = !first.done && first.value.written?.isReplay === true;
    return {
      status: 200,
      headers: {
        'content-type': NDJSON_TYPE,
        'cache-control': 'no-store',
        ...replayHeader(isReplay),
      },
      body: renderReport(first, batches, batchReport, services),
      close: () => batches.return(),
    };
  });
}

/** A list of a summary, which is absent if it is empty. */
export function nonEmpty<Item>(list: readonly Item[]): readonly Item[] | undefined {
  return list.length > 0 ? list : undefined;
}

export function formatLine(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

async function* renderReport<Row, Written>(
  first: IteratorResult<WrittenBatch<Row, Written>, void>,
  batches: Batches<Row, Written>,
  batchReport: BatchReport<Row, Written>, { report }: Services,
): AsyncGenerator<string, void, void> {
  await using _batches = batches;
  let sentAt = performance.now();
  try {
    for (let step = first; !step.done; step = await batches.next()) {
      const lines = batchReport.add(step.value);
      if (lines === '' && performance.now() - sentAt < REPORT_SILENCE_LIMIT_MS) continue;
      yield lines || SPACE;
      sentAt = performance.now();
    }
    yield formatLine({ summary: batchReport.summarise(true) });
  } catch (error) {
    const { detail, ...problem } = describeProblem(error, report);
    const hint = 'The summary counts the results until then. '
      + (batchReport.isDryRun ? 'This was a dry run: nothing was changed.'
        : 'Changes already written stay.');
    const summary = batchReport.summarise(false);
    yield formatLine({ problem: { ...problem, detail: `${detail} ${hint}`, summary } });
  }
}
