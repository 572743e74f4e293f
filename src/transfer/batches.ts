/**
 * Writes a stream of rows in batches, one mutation each, while reading continues. Batch boundaries
 * depend on the rows alone, so a retry with the same Idempotency-Key has the same batches, and the
 * store writes none of them twice.
 */
import { IMPORT_BATCH_LIMIT_CHARACTERS, IMPORT_BATCH_ROWS } from './limits.ts';
import { yieldToEventLoop } from '../runtime/event-loop.ts';
import type { GuardedStream } from '../http/response/guarded-stream.ts';

/** Writes the batches of a stream, in order. */
export interface BatchTarget<Row, Written> {
  /**
   * Writes batch number `part`, from 0. The last batch, at the end of the stream, has no rows.
   * Undefined if there is nothing to write.
   */
  write(rows: readonly Row[], part: number): Promise<Written> | undefined;
  /** Writes batches of its own at the end of the stream, instead of the one without rows. */
  finish?(part: number): AsyncIterable<Written>;
  close(): Promise<void>;
}

/** The rows of a batch and the result of writing them, if there was anything to write. */
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

/** Writes the batches. While one is written, reads the next one but no more. */
export async function* writeBatches<Row extends { readonly characters: number }, Written>(
  { slices, target, guard }: RowStream<Row, Written>,
): AsyncGenerator<WrittenBatch<Row, Written>, void, void> {
  const batches = gatherBatches(slices);
  try {
    let reading = batches.next();
    for (let part = 0; ; part += 1) {
      const step = await (guard ? guard.race(reading) : reading);
      const rows = step.value ?? [];
      await guard?.check(true);
      if (step.done && target.finish) {
        for await (const written of target.finish(part)) {
          yield { rows: [], written };
          await guard?.check();
        }
        return;
      }
      const writing = target.write(rows, part);
      if (step.done) {
        await writing;
        return;
      }
      reading = batches.next();
      reading.catch(() => {}); // awaited above, unless the caller stops iterating
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
    await yieldToEventLoop(); // a large chunk must not block other requests
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
