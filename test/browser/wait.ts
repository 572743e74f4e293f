/** Waits for a condition; the only place in the browser tests that sleeps. */
import { setTimeout as pause } from 'node:timers/promises';
import { WebDriverError } from './session.ts';

const DEADLINE_MS = 10_000;
const INTERVAL_MS = 20;

/** Errors of a page that is changing; any other error fails the test. */
const PASSING = ['stale element reference', 'no such element', 'element not interactable'];

export type Truthy<T> = Exclude<T, undefined | null | false | 0 | ''>;

/** Polls until the result is truthy, and returns it. Throws after 10 s, naming `what`. */
export async function waitFor<T>(what: string, condition: () => Promise<T>): Promise<Truthy<T>> {
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    const result = await condition().catch(ignoreIfPassing);
    // The cast: the result is truthy, so no falsy value is left.
    if (result) return result as Truthy<T>;
    if (performance.now() > deadline) throw new Error(`Waited ${DEADLINE_MS} ms for ${what}`);
    await pause(INTERVAL_MS);
  }
}

function ignoreIfPassing(error: unknown): undefined {
  if (!(error instanceof WebDriverError && PASSING.includes(error.code))) throw error;
}
