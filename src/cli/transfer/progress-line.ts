/** How far a transfer is, in a line for a terminal or for a log. */

export interface TransferState {
  /** Undefined where bytes are all that there is to count. */
  readonly rows?: number | undefined;
  readonly bytes: number;
  /** Of the whole; undefined where nobody knows it. */
  readonly sizeBytes?: number | undefined;
  /** Undefined where nothing can fail row by row. */
  readonly failures?: number | undefined;
}

/** A transfer, and for how long it has been going on. */
interface ProgressState extends TransferState {
  readonly elapsedMs: number;
}

const BAR_LEAST_COLUMNS = 10;
const BAR_MOST_COLUMNS = 40;

/** A line that is shorter than the terminal is wide, so that it never breaks. */
export function formatBar(state: ProgressState, columns: number): string {
  const most = columns - 1;
  const parts = formatParts(state);
  while (parts.length > 1 && parts.join('  ').length > most) parts.pop();
  const text = parts.join('  ').slice(0, Math.max(0, most));
  const room = Math.min(most - text.length - '[]  '.length, BAR_MOST_COLUMNS);
  const share = readShare(state);
  if (share === undefined || room < BAR_LEAST_COLUMNS) return text;
  const filled = Math.floor(share * room);
  return `[${'#'.repeat(filled)}${'-'.repeat(room - filled)}]  ${text}`;
}

/** What there is to say, the most important first. */
export function formatParts(state: ProgressState): string[] {
  const { rows, bytes, failures, elapsedMs } = state;
  const share = readShare(state);
  const leftMs = share ? (elapsedMs / share) * (1 - share) : undefined;
  return [
    share === undefined ? formatMebibytes(bytes) : `${Math.floor(share * 100)} %`,
    ...(rows === undefined ? [] : [`${formatCount(rows)} rows`]),
    ...(failures === undefined ? [] : [`${formatCount(failures)} failed`]),
    rows === undefined ? `${formatMebibytes(perSecond(bytes, elapsedMs))}/s`
      : `${formatCount(Math.round(perSecond(rows, elapsedMs)))} rows/s`,
    ...(leftMs === undefined || share === 1 ? [] : [`${formatDuration(leftMs)} left`]),
  ];
}

/** 1,234,567 */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}

/** 1 product, 1,234 products */
export function formatCounted(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** 12.3 MiB */
export function formatMebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

function perSecond(count: number, elapsedMs: number): number {
  return elapsedMs > 0 ? (count / elapsedMs) * 1000 : 0;
}

/** How much of the whole is done, from 0 to 1. */
function readShare({ bytes, sizeBytes }: TransferState): number | undefined {
  if (sizeBytes === undefined) return undefined;
  return sizeBytes === 0 ? 1 : Math.min(bytes / sizeBytes, 1);
}

/** 0:05, 12:34, 1:02:03 */
function formatDuration(durationMs: number): string {
  const seconds = Math.ceil(durationMs / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = String(seconds % 60).padStart(2, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}
