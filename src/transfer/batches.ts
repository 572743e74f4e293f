/**
 * Writes a stream of rows in batches, one mutation each, while the stream is still read. The batch
 * boundaries depend on the rows alone, so a file repeated under its Idempotency-Key has the same
 * batches, and the store does not write again what it has written.
 */
import { IMPORT_BATCH_LIMIT_CHARACTERS, IMPORT_BATCH_ROWS } from './limits.ts';
import { yieldToEventLoop } from '../runtime/event-loop.ts';
import type { GuardedStream } from '../http/response/guarded-stream.ts';

/** Where the batches of a stream go, in order. */
export interface BatchTarget<Row, Written> {
  /**
   * Writes a batch, of which `part` is the number, from 0. The last one, at the end of the stream,
   * has no rows. Undefined if there is nothing to write.
   */
  write(rows: readonly Row[], part: number): Promise<Written> | undefined;
  close(): Promise<void>;
}

/** The rows of a batch and the result of writing it, if there was anything to write. */
export interface WrittenBatch<Row, Written> {
  readonly rows: readonly Row[];
  readonly written: Written | undefined;
}

export interface RowStream<Row, Written> {
  /** The rows, in slices that are small enough to parse without blocking the event loop. */
  readonly slices: AsyncIterable<readonly Row[]>;
  readonly target: BatchTarget<Row, Written>;
  /** Stops the stream when its client is no longer authorized: a stream may take hours. */
  readonly guard?: Pick<GuardedStream, 'check' | 'race'>;
}

/** Writes the batches. While one is written the next one is read, but no more than that. */
export async function* writeBatches<Row extends { readonly characters: number }, Written>(
  { slices, target, guard }: RowStream<Row, Written>,
): AsyncGenerator<WrittenBatch<Row, Written>, void, void> {
  const batches = gatherBatches(slices);
  try {
    let reading = batches.next();
    for (let part = 0; ; part += 1) {
      const step = await (guard ? guard.race(reading) : reading);
      const rows = step.value ?? [];
      await guard?.check();
      const writing = target.write(rows, part);
      if (step.done) {
        await writing;
        return;
      }
      reading = batches.next();
      reading.catch(() => {}); // awaited above, unless nobody reads on
      yield { rows, written: await writing };
    }
  } finally {
    // Not awaited: a client that is still sending would delay the response that ends the stream.
    batches.return().catch(() => {});
    await target.close();
  }
}

async function* gatherBatches<Row extends { readonly characters: number }>(
  slices: AsyncIterable<readonly Row[]>,
): AsyncGenerator<readonly Row[], void, void> {
  let batch: Row[] = [];
  let characters = 0;
  for await (const rows of slices) {
    await yieldToEventLoop(); // a body that arrived at once must not block other requests
    for (const row of rows) {
      batch.push(row);
      characters += row.characters;
      if (batch.length < IMPORT_BATCH_ROWS && characters < IMPORT_BATCH_LIMIT_CHARACTERS) continue;
      yield batch;
      batch = [];
      characters = 0;
    }
  }
  if (batch.length > 0) yield batch;
}
