/**
 * Cooperative scheduling for CPU-bound work. Long computations run in slices of a few milliseconds
 * and `await yieldToEventLoop()` between slices. All of them share one queue, so each iteration of
 * the event loop runs at most one slice, however many computations are in progress. The queue is
 * module state because a thread has one event loop, which all of its apps and stores share.
 */

const waiting: (() => void)[] = [];

/** Resolves in a later event-loop iteration, when this caller's next slice may run. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(runNextSlice);
  });
}

function runNextSlice(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(runNextSlice);
}
