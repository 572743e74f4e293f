/**
 * Files of any length, answered while their units are written: lines that tell what became of the
 * rows, and a summary.
 */
import { describeProblem } from '../http/response/problem.ts';
import type { Reply } from '../http/response/reply.ts';
import { type RowStream, type WrittenBatch, writeBatches } from '../transfer/batches.ts';
import { NDJSON_TYPE } from './media-types.ts';
import type { Services } from './route.ts';
import type { OpenStream } from './streams.ts';
import { replayHeader } from './write.ts';

/** What became of the rows so far. */
export interface BatchReport<Row, Written> {
  /** Counts a unit, and returns the lines that tell of its rows. */
  add(unit: WrittenBatch<Row, Written>): string;
  summarise(): object;
}

interface TalliedFile<Row, Written> extends Omit<RowStream<Row, Written>, 'guard'> {
  readonly tally: BatchReport<Row, Written>;
}

/**
 * Starts an import and returns a response that reports its progress; calls `open` once it has a
 * slot.
 * @throws AppError if the file as a whole is invalid, or too many imports are in flight
 */
export function ingestStream<
  Row extends { readonly characters: number }, Written extends { readonly isReplay: boolean },
>(
  openStream: OpenStream, services: Services, open: () => TalliedFile<Row, Written>,
): Promise<Reply> {
  return openStream('ingest', async (guard) => {
    const { tally, ...file } = open();
    const units = writeBatches({ ...file, guard });
    const first = await units.next();
    const isReplay = !first.done && first.value.written?.isReplay === true;
    return {
      status: 200,
      headers: {
        'content-type': NDJSON_TYPE,
        'cache-control': 'no-store',
        ...replayHeader(isReplay),
      },
      body: tell(first, units, tally, services),
      close: () => units.return(),
    };
  });
}

export function formatLine(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

/** The body of the answer. */
async function* tell<Row, Written>(
  first: IteratorResult<WrittenBatch<Row, Written>, void>,
  units: AsyncGenerator<WrittenBatch<Row, Written>, void, void>,
  tally: BatchReport<Row, Written>, { report }: Services,
): AsyncGenerator<string, void, void> {
  try {
    for (let step = first; !step.done; step = await units.next()) {
      const lines = tally.add(step.value);
      if (lines !== '') yield lines;
    }
    yield formatLine({ summary: tally.summarise() });
  } catch (error) {
    const { detail, ...problem } = describeProblem(error, report);
    const hint = 'What the summary counts was done before, and stays.';
    const summary = tally.summarise();
    yield formatLine({ problem: { ...problem, detail: `${detail} ${hint}`, summary } });
  } finally {
    await units.return();
  }
}
