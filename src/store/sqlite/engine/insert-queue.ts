/**
 * Inserts rows in groups: a statement for several rows takes half the time per row. Rows wait until
 * a group is full or the queue is flushed, which happens before every commit.
 */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';

type Row = readonly SQLInputValue[];

interface Target {
  /** `INSERT INTO table (columns)` */
  readonly insert: string;
  /** Number of columns. */
  readonly width: number;
  /** The clause that skips a row instead of failing. */
  readonly onConflict?: string;
  /** What to throw if a row was skipped, by the first row of its group. */
  readonly explain?: (row: Row) => Error;
}

/** Rows per statement, descending; larger groups gain nothing. */
const GROUP_SIZES = [16, 4, 1] as const;

export class InsertQueue {
  readonly #target: Target;
  readonly #statements: readonly (readonly [size: number, statement: StatementSync])[];
  /** The values of the waiting rows, one row after the other. */
  #waiting: SQLInputValue[] = [];

  constructor(db: DatabaseSync, target: Target) {
    this.#target = target;
    const row = `(?${', ?'.repeat(target.width - 1)})`;
    this.#statements = GROUP_SIZES.map((size) => [size, db.prepare(`
      ${target.insert} VALUES ${Array(size).fill(row).join(', ')}
      ${target.onConflict ?? ''}`)]);
  }

  add(row: Row): void {
    this.#waiting.push(...row);
    if (this.#waiting.length === GROUP_SIZES[0] * this.#target.width) this.flush();
  }

  /** Inserts the waiting rows if one of them has this value, in any column. */
  flushIfWaiting(value: SQLInputValue): void {
    if (this.#waiting.includes(value)) this.flush();
  }

  /** Inserts the waiting rows. Call it before anything else reads their table. */
  flush(): void {
    const { width, explain } = this.#target;
    const values = this.#waiting;
    if (values.length === 0) return;
    this.#waiting = [];
    let start = 0;
    for (const [size, statement] of this.#statements) {
      for (; start + size * width <= values.length; start += size * width) {
        const group = values.slice(start, start + size * width);
        const { changes } = statement.run(...group);
        if (changes !== size && explain) throw explain(group);
      }
    }
  }

  /** Discards the waiting rows. */
  clear(): void {
    this.#waiting = [];
  }
}
