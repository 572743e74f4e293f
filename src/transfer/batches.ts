/**
 * Files of any length, taken in units that are written one after the other while the file is read.
 * What a unit holds depends on the file alone, so the repetition of a file under its
 * Idempotency-Key has the same units, and those that were written are not written again.
 */
import { IMPORT_BATCH_LIMIT_CHARACTERS, IMPORT_BATCH_ROWS } from './limits.ts';
import { yieldToEventLoop } from '../runtime/event-loop.ts';
import type { GuardedStream } from '../http/response/guarded-stream.ts';

/** Where the units of a file go, one after the other. */
export interface BatchTarget<Row, Written> {
  /**
   * Writes a unit; the last one, at the end of the file, has no rows. Undefined where there is
   * nothing to write.
   */
  write(rows: readonly Row[], part: number): Promise<Written> | undefined;
  close(): Promise<void>;
}

/** The rows of a unit, and what became of those that there was something to do with. */
export interface WrittenBatch<Row, Written> {
  readonly rows: readonly Row[];
  readonly written: Written | undefined;
}

export interface RowStream<Row, Written> {
  readonly batches: AsyncIterable<readonly Row[]>;
  readonly target: BatchTarget<Row, Written>;
  /** Ends it once its client is no longer authorized: a file may take hours. */
  readonly guard?: Pick<GuardedStream, 'check' | 'race'>;
}

/** Writes the units; while one is written, the next one is read, and no more than that. */
export async function* writeBatches<Row extends { readonly characters: number }, Written>(
  { batches, target, guard }: RowStream<Row, Written>,
): AsyncGenerator<WrittenBatch<Row, Written>, void, void> {
  const units = gatherBatches(batches);
  try {
    let reading = units.next();
    for (let part = 0; ; part += 1) {
      const step = await (guard ? guard.race(reading) : reading);
      const rows = step.value ?? [];
      await guard?.check();
      const writing = target.write(rows, part);
      if (step.done) {
        await writing;
        return;
      }
      reading = units.next();
      reading.catch(() => {}); // it is heard above, or nobody reads on
      yield { rows, written: await writing };
    }
  } finally {
    // Not awaited: a file that is still coming would hold up the answer that ends it.
    units.return().catch(() => {});
    await target.close();
  }
}

/** The rows of a file in groups, each of which is written as one unit. */
async function* gatherBatches<Row extends { readonly characters: number }>(
  batches: AsyncIterable<readonly Row[]>,
): AsyncGenerator<readonly Row[], void, void> {
  let unit: Row[] = [];
  let characters = 0;
  for await (const rows of batches) {
    await yieldToEventLoop(); // or a body that came at once would be handled at once
    for (const row of rows) {
      unit.push(row);
      characters += row.characters;
      if (unit.length < IMPORT_BATCH_ROWS && characters < IMPORT_BATCH_LIMIT_CHARACTERS) continue;
      yield unit;
      unit = [];
      characters = 0;
    }
  }
  if (unit.length > 0) yield unit;
}
