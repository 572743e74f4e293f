/** The lived time of a store (runtime/clock.ts): a row for each day of it; the newest is now. */
import { DAY_MS } from '../../domain/time.ts';
import { readInteger, type Sql } from './sql.ts';

export function livedTimeMutations(sql: Sql, lived: () => number) {
  const keep = sql.prepare(`
    INSERT INTO lived_time (day, began_at, lived_ms) VALUES (:day, :at, :lived)
    ON CONFLICT (day) DO UPDATE SET lived_ms = excluded.lived_ms
    WHERE lived_time.lived_ms < excluded.lived_ms`);
  return {
    async keepLivedTime(_: readonly [], at: number): Promise<void> {
      await keep.run({ day: Math.floor(lived() / DAY_MS), at, lived: lived() });
    },
  };
}

export function livedTimeQueries(sql: Sql) {
  const find = sql.prepare('SELECT coalesce(max(lived_ms), 0) AS lived FROM lived_time');
  const findDay = sql.prepare(`
    SELECT began_at FROM lived_time WHERE day <= :day ORDER BY day DESC LIMIT 1`);
  return {
    findLivedTime: async () => readInteger(await find.get() ?? {}, 'lived'),
    /** The wall time at the beginning of the day of this lived time; 0 for a time before all. */
    async findTimeLivedAt(lived: number): Promise<number> {
      const row = await findDay.get({ day: Math.floor(lived / DAY_MS) });
      return row ? readInteger(row, 'began_at') : 0;
    },
  };
}
