/** A clock that advances only when a test sets it. */
import { termFrom } from '../../src/runtime/clock.ts';

export interface Clock {
  (): number;
  /** Time passes if it is increased; decreased, the clock steps back. */
  now: number;
  /** Steps by this many milliseconds, while no time passes. */
  step(ms: number): void;
  monotonic(): number;
}

export function makeClock(start = Date.parse('2026-01-02T03:04:05.678Z')): Clock {
  let [wall, passed] = [start, 0];
  return Object.defineProperty(
    Object.assign(() => wall, {
      now: wall, monotonic: () => passed, step: (ms: number) => void (wall += ms),
    }),
    'now',
    {
      get: () => wall,
      set(now: number) {
        passed += Math.max(0, now - wall);
        wall = now;
      },
    },
  );
}

/** Until which lived time something is valid that begins at `lived` and lasts this long. */
export function livedUntil(lived: number, lifeMs: number): number {
  return termFrom({ wall: 0, lived }, lifeMs).livedUntil;
}
