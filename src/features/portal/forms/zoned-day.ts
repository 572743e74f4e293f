/** Days of the calendar (ISO 8601), as date fields send them, in a time zone of IANA. */
import { DAY_MS, parseTime } from '../../../domain/time.ts';

/** When a day such as `2026-01-31` is over, milliseconds since 1970; undefined for no such day. */
export function findEndOfDay(day: string, timeZone: string): number | undefined {
  const start = parseTime(`${day}T00:00:00Z`);
  if (start === undefined) return undefined;
  const end = start + DAY_MS;
  // Once from about the right time, and once more where the clocks are changed in between.
  const near = end - findOffset(end, timeZone);
  return end - findOffset(near, timeZone);
}

/** How far the clocks of a zone are ahead of UTC, in milliseconds. */
function findOffset(at: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit',
    hour: '2-digit', minute: '2-digit', second: '2-digit',
  });
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]));
  const read = (name: Intl.DateTimeFormatPartTypes): number => Number(parts.get(name));
  const there = Date.UTC(
    read('year'), read('month') - 1, read('day'), read('hour'), read('minute'), read('second'),
  );
  return there - Math.floor(at / 1000) * 1000;
}
