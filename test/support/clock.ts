/** A clock that advances only when a test sets it. */

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
