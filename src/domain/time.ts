/**
 * Times as text (RFC 3339; formatted in UTC with milliseconds) and durations as people type them:
 * `30s`, `15m`, `24h`, `90d`. Internally, all are milliseconds; times count from 1970.
 */
import { AppError } from './error.ts';
import { DURATION_LIMIT_MS } from './limits.ts';

/** A UTC day, which always has the same length. */
export const DAY_MS = 24 * 60 * 60 * 1000;
export const HOUR_MS = 60 * 60 * 1000;
export const MINUTE_MS = 60 * 1000;

let lastTime = 0;
let lastText = new Date(0).toISOString();

/** Caches the last text, since rows written together have the same time. */
export function formatTime(at: number): string {
  if (at !== lastTime) {
    lastText = new Date(at).toISOString();
    lastTime = at;
  }
  return lastText;
}

/** As `formatTime`; null for a time that is not set. */
export function formatOptionalTime(at: number | undefined): string | null {
  return at === undefined ? null : formatTime(at);
}

/** RFC 3339 section 5.6, with up to 9 decimals of a second; a Date keeps 3. */
const TIME = new RegExp(
  '^(?<day>\\d{4}-\\d\\d-\\d\\d)T(?<minute>(?:[01]\\d|2[0-3]):[0-5]\\d):(?<second>[0-5]\\d|60)'
  + '(?<rest>(?:\\.\\d{1,9})?(?:Z|[+-](?:[01]\\d|2[0-3]):[0-5]\\d))$',
);
/** Leap seconds end June or December in UTC (RFC 3339 section 5.7). */
const AFTER_LEAP_SECOND = /-0[17]-01T00:00:00\./;
/** RFC 3339 has no later one in UTC. */
const LAST_TIME = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Undefined for a text that is not an RFC 3339 time from 1970 to 9999 in UTC. Unix time has no leap
 * seconds, so a leap second becomes the second after it.
 */
export function parseTime(text: string): number | undefined {
  const { day = '', minute = '', second = '', rest = '' } = TIME.exec(text)?.groups ?? {};
  // Date.parse reads February 31 as March 3.
  if (day === '' || !new Date(`${day}T00:00Z`).toJSON()?.startsWith(day)) return undefined;
  const isLeap = second === '60';
  const at = isLeap ? Date.parse(`${day}T${minute}:59${rest}`) + 1_000 : Date.parse(text);
  if (isLeap && !AFTER_LEAP_SECOND.test(new Date(at).toISOString())) return undefined;
  return at >= 0 && at <= LAST_TIME ? at : undefined;
}

/** UTC time for file names, to the second: `20261121T093000Z`. */
export function formatFileTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
}

/** Undefined for text that `formatFileTime` did not write. */
export function parseFileTime(text: string): number | undefined {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text) ?? [];
  const [year, month, day, hour, minute, second] = parts;
  return parseTime(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS,
};

export const DURATION_HINT = 'Give a number and a unit (s, m, h, d), at most 3653d: 24h, 90d.';

/** From 0 to ten years. @throws AppError `invalid_data` */
export function parseDuration(text: string): number {
  const durationMs = findDuration(text);
  if (durationMs !== undefined) return durationMs;
  throw new AppError('invalid_data', `"${text}" is not a duration. ${DURATION_HINT}`);
}

/** As above; undefined for a text that is not a duration. */
export function findDuration(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const durationMs = Number(count) * (UNIT_MS[unit ?? ''] ?? NaN);
  return durationMs <= DURATION_LIMIT_MS ? durationMs : undefined;
}
