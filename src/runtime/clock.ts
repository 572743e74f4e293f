/**
 * Lived time, for ages that a step of the wall clock does not change, and the two rules for what
 * has an age. No other code may subtract two readings of the wall clock to forget what protects
 * from repetition, or to keep alive what grants access. Order needs no time: changes are ordered
 * by position.
 */

/** Milliseconds since 1970. Tests set `monotonic`, the time that has passed. */
export interface Clock {
  (): number;
  readonly monotonic?: () => number;
}

/** The monotonic clock beside a wall clock, in milliseconds; by default the system's. */
export function monotonicOf({ monotonic }: Clock): () => number {
  return monotonic ?? (() => performance.now());
}

/** Now, by both clocks. */
export interface Moment {
  /** Milliseconds since 1970. */
  readonly wall: number;
  /** Lived time. */
  readonly lived: number;
}

/** How often a process stores its lived time for others. */
export const LIVED_TIME_INTERVAL_MS = 60_000;
/** Another process may lag by the time since it last read the total. */
const SLACK_MS = 2 * LIVED_TIME_INTERVAL_MS;

/**
 * The time that servers of a store have lived through, in milliseconds since the store was created,
 * by their monotonic clocks: no step of the wall clock moves it. It does not count time in which no
 * server ran, nor, on Linux, in which the machine was suspended. So it is never ahead of the time
 * that has passed, and neither is the greater of two readings.
 */
export function makeLivedTime(clock: Clock) {
  const monotonic = monotonicOf(clock);
  /** Lived before this clock was 0. */
  let before = -monotonic();
  const read = (): number => Math.floor(before + monotonic());
  return {
    read,
    now: (): Moment => ({ wall: clock(), lived: read() }),
    /** Continues from what another process has lived, or an earlier one, if that is more. */
    adopt(lived: number): void {
      before += Math.max(0, lived - read());
    },
  };
}

export type LivedTime = ReturnType<typeof makeLivedTime>;

/**
 * Rule 1. What protects from repetition is forgotten once it is `lifeMs` old in lived time, which
 * is never ahead. Returns the lived time up to which records are forgotten.
 */
export function forgottenUpTo(lived: number, lifeMs: number): number {
  return lived - lifeMs;
}

/** When what grants access ends, by both clocks; undefined for never, or if it is not known. */
interface Term {
  readonly endsAt: number | undefined;
  readonly livedUntil: number | undefined;
}

/** From now on for a time: exact by the wall clock. Lived time ends what that does not. */
export function termFrom({ wall, lived }: Moment, lifeMs: number) {
  const livedUntil = lived + Math.max(0, lifeMs) + SLACK_MS;
  return { endsAt: wall + lifeMs, livedUntil } satisfies Term;
}

/** Rule 2. What grants access ends as soon as either clock says so. */
export function hasEnded(
  { endsAt = Infinity, livedUntil = Infinity }: Partial<Term>, { wall, lived }: Moment,
): boolean {
  return wall >= endsAt || lived >= livedUntil;
}
