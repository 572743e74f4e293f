/** A clock that advances only when a test sets it. */

export interface Clock {
  (): number;
  now: number;
}

export function makeClock(start = Date.parse('2026-01-02T03:04:05.678Z')): Clock {
  const clock: Clock = Object.assign(() => clock.now, { now: start });
  return clock;
}
