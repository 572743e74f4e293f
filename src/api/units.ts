/**
 * Files of any length, taken in units that are written one after the other while the file is read,
 * and answered while that goes on: lines that tell what became of the rows, and a summary. What a
 * unit holds depends on the file alone, so the repetition of a file under its Idempotency-Key has
 * the same units, and those that were written are not written again.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  HEARTBEAT_INTERVAL_MS, IMPORT_UNIT_LIMIT_CHARACTERS, IMPORT_UNIT_ROWS,
} from '../config.ts';
import { describeProblem } from '../http/problem.ts';
import type { Reply } from '../http/reply.ts';
import { NDJSON_TYPE } from './media-types.ts';
import type { Services } from './route.ts';
import { formatReplay } from './write.ts';

/** Where the units of a file go, one after the other. */
export interface UnitTarget<Row, Written> {
  /**
   * Writes a unit; the last one, at the end of the file, has no rows. Undefined where there is
   * nothing to write.
   */
  write(rows: readonly Row[], part: number): Promise<Written> | undefined;
  close(): Promise<void>;
}

/** The rows of a unit, and what became of those that there was something to do with. */
export interface WrittenUnit<Row, Written> {
  readonly rows: readonly Row[];
  readonly written: Written | undefined;
}

/** What became of the rows so far. */
export interface UnitTally<Row, Written> {
  /** Counts a unit, and returns the lines that tell of its rows. */
  add(unit: WrittenUnit<Row, Written>): string;
  summarise(): object;
}

interface FileOfRows<Row, Written> {
  readonly batches: AsyncIterable<readonly Row[]>;
  readonly target: UnitTarget<Row, Written>;
  readonly tally: UnitTally<Row, Written>;
  /** Rejects where the key of the request is not good any more: a file may take hours. */
  readonly assertAllowed: () => Promise<void>;
  /** Is called when it is over, whichever way. */
  readonly end: () => void;
}

/** Begins, and answers while it goes on. @throws AppError where the file is faulty as a whole */
export async function takeFile<
  Row extends { readonly characters: number }, Written extends { readonly isReplay: boolean },
>(file: FileOfRows<Row, Written>, services: Services): Promise<Reply> {
  const { tally } = file;
  const units = writeUnits(gatherUnits(file.batches), file);
  const first = await units.next();
  const isReplay = !first.done && first.value.written?.isReplay === true;
  return {
    status: 200,
    headers: {
      'content-type': NDJSON_TYPE,
      'cache-control': 'no-store',
      ...formatReplay(isReplay),
    },
    body: tell(first, units, tally, services),
  };
}

export function formatLine(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

/** The rows of a file in groups, each of which is written as one unit. */
async function* gatherUnits<Row extends { readonly characters: number }>(
  batches: AsyncIterable<readonly Row[]>,
): AsyncGenerator<readonly Row[], void, void> {
  let unit: Row[] = [];
  let characters = 0;
  for await (const rows of batches) {
    await nextTurn(); // or a body that came at once would be handled at once
    for (const row of rows) {
      unit.push(row);
      characters += row.characters;
      if (unit.length < IMPORT_UNIT_ROWS && characters < IMPORT_UNIT_LIMIT_CHARACTERS) continue;
      yield unit;
      unit = [];
      characters = 0;
    }
  }
  if (unit.length > 0) yield unit;
}

/** Writes the units; while one is written, the next one is read, and no more than that. */
async function* writeUnits<Row, Written>(
  units: AsyncGenerator<readonly Row[], void, void>,
  { target, assertAllowed, end }: FileOfRows<Row, Written>,
): AsyncGenerator<WrittenUnit<Row, Written>, void, void> {
  try {
    let checkAt = performance.now() + HEARTBEAT_INTERVAL_MS;
    let reading = units.next();
    for (let part = 0; ; part += 1) {
      const step = await reading;
      const rows = step.value ?? [];
      if (performance.now() >= checkAt) {
        await assertAllowed();
        checkAt = performance.now() + HEARTBEAT_INTERVAL_MS;
      }
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
    end();
    await target.close();
  }
}

/** The body of the answer. */
async function* tell<Row, Written>(
  first: IteratorResult<WrittenUnit<Row, Written>, void>,
  units: AsyncGenerator<WrittenUnit<Row, Written>, void, void>,
  tally: UnitTally<Row, Written>, { report }: Services,
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
