/** Durations as people type them: `30s`, `15m`, `24h`, `90d`. */
import { AppError } from './error.ts';
import { DURATION_LIMIT_MS } from './limits.ts';

const UNIT_MS: Readonly<Record<string, number>> = { s: 1e3, m: 60e3, h: 3600e3, d: 86400e3 };

/**
 * Milliseconds, from 0 to ten years.
 * @throws AppError `invalid_data`
 */
export function parseDuration(text: string): number {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const durationMs = Number(count) * (UNIT_MS[unit ?? ''] ?? NaN);
  if (!(durationMs <= DURATION_LIMIT_MS)) {
    const hint = 'Give a number and a unit (s, m, h, d), at most 3653d: 24h, 90d.';
    throw new AppError('invalid_data', `"${text}" is not a duration. ${hint}`);
  }
  return durationMs;
}
