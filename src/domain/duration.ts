/** Durations as people type them: `30s`, `15m`, `24h`, `90d`. */
import { AppError } from './error.ts';
import { DURATION_LIMIT_MS } from './limits.ts';

const UNIT_MS: Readonly<Record<string, number>> = { s: 1e3, m: 60e3, h: 3600e3, d: 86400e3 };

/** What a duration has to be. */
export const DURATION_HINT = 'Give a number and a unit (s, m, h, d), at most 3653d: 24h, 90d.';

/**
 * Milliseconds, from 0 to ten years.
 * @throws AppError `invalid_data`
 */
export function parseDuration(text: string): number {
  const durationMs = findDuration(text);
  if (durationMs !== undefined) return durationMs;
  throw new AppError('invalid_data', `"${text}" is not a duration. ${DURATION_HINT}`);
}

/** Milliseconds, as above; undefined for a text that is no such duration. */
export function findDuration(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const durationMs = Number(count) * (UNIT_MS[unit ?? ''] ?? NaN);
  return durationMs <= DURATION_LIMIT_MS ? durationMs : undefined;
}
