/**
 * Lets others have their turns of the event loop: work that takes long is done in parts of a few
 * milliseconds, with `await nextTurn()` between them. However many do such work at once, one turn
 * has one part of it; so they share one queue, as they share the one event loop of the process.
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
