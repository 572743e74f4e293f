/**
 * Cooperative yielding: long CPU work runs in slices of a few milliseconds, with `await nextTurn()`
 * between them. However many tasks do such work concurrently, one turn of the event loop runs one
 * slice. This needs one queue per event loop, so the queue is module state: all apps and stores of
 * a thread share it.
 */

const waiting: (() => void)[] = [];

/** Resolves in a later turn, in which no other part of such work is done. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(goOn);
  });
}

function goOn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(goOn);
}
