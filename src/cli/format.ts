/** Formats what commands print for people: counts, sizes, lists and progress. */
import { formatCount } from '../domain/wording.ts';
import type { Result } from './command.ts';

/** How far a transfer has come. */
export interface TransferState {
  /** Undefined if the transfer has no rows. */
  readonly rows?: number | undefined;
  readonly bytes: number;
  /** Total size; undefined if unknown. */
  readonly sizeBytes?: number | undefined;
  /** Undefined if rows cannot be rejected. */
  readonly rejected?: number | undefined;
}

interface ProgressState extends TransferState {
  readonly elapsedMs: number;
}

const BAR_MIN_COLUMNS = 10;
const BAR_LIMIT_COLUMNS = 40;

/** A progress line narrower than the terminal, so that it never wraps. */
export function formatBar(state: ProgressState, columns: number): string {
  const limit = columns - 1;
  const parts = formatParts(state);
  while (parts.length > 1 && parts.join('  ').length > limit) parts.pop();
  const text = parts.join('  ').slice(0, Math.max(0, limit));
  const room = Math.min(limit - text.length - '[]  '.length, BAR_LIMIT_COLUMNS);
  const share = readShare(state);
  if (share === undefined || room < BAR_MIN_COLUMNS) return text;
  const filled = Math.floor(share * room);
  return `[${'#'.repeat(filled)}${'-'.repeat(room - filled)}]  ${text}`;
}

/** The parts of a progress line, most important first. */
export function formatParts(state: ProgressState): string[] {
  const { rows, bytes, rejected, elapsedMs } = state;
  const share = readShare(state);
  const leftMs = share ? (elapsedMs / share) * (1 - share) : undefined;
  return [
    share === undefined ? formatMebibytes(bytes) : `${Math.floor(share * 100)} %`,
    ...(rows === undefined ? [] : [formatCounted(rows, 'row')]),
    ...(rejected === undefined ? [] : [`${formatCount(rejected)} rejected`]),
    rows === undefined ? `${formatMebibytes(perSecond(bytes, elapsedMs))}/s`
      : `${formatCount(Math.round(perSecond(rows, elapsedMs)))} rows/s`,
    ...(leftMs === undefined || share === 1 ? [] : [`${formatDuration(leftMs)} left`]),
  ];
}

/** A count with its noun: 1 product, 1,234 products. */
export function formatCounted(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** A size such as 12.3 MiB. */
export function formatMebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

function perSecond(count: number, elapsedMs: number): number {
  return elapsedMs > 0 ? (count / elapsedMs) * 1000 : 0;
}

/** The completed share, from 0 to 1; undefined if the size is unknown. */
function readShare({ bytes, sizeBytes }: TransferState): number | undefined {
  if (sizeBytes === undefined) return undefined;
  return sizeBytes === 0 ? 1 : Math.min(bytes / sizeBytes, 1);
}

/** A duration such as 0:05, 12:34 or 1:02:03. */
function formatDuration(durationMs: number): string {
  const all = Math.ceil(durationMs / 1000);
  const parts = [Math.floor(all / 3600), Math.floor(all / 60) % 60, all % 60];
  const [first, ...others] = parts[0] === 0 ? parts.slice(1) : parts;
  return [first, ...others.map((part) => String(part).padStart(2, '0'))].join(':');
}

/**
 * The result of a command that lists rows; an empty list prints `hint`. A row of the table has the
 * members that `show` returns.
 */
export function listResult<Row extends object>(
  name: string, rows: readonly Row[], hint: string, show: (row: Row) => object = (row) => row,
): Result {
  const document = { [name]: rows };
  return rows.length === 0 ? { document, note: hint } : { document, rows: rows.map(show) };
}

/** The counts of imports, stock syncs and reverts in display order, with their labels. */
const COUNTS = {
  created: 'created', updated: 'updated', applied: 'applied', unchanged: 'unchanged',
  zeroed: 'set to 0', restored: 'restored', deleted: 'deleted', recreated: 'created again',
  conflicts: 'left alone', failed: 'rejected', skipped: 'skipped',
};

/** The counts of an import, a stock sync or a revert: `3 created, 1 updated, ...`. */
export function formatCounts(summary: Readonly<Record<string, unknown>>): string {
  return Object.entries(COUNTS).flatMap(([name, label]) => {
    const count = summary[name];
    return typeof count === 'number' ? [`${formatCount(count)} ${label}`] : [];
  }).join(', ');
}
