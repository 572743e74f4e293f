/** Lets a server forget what is too old: history, as its setting says, and idempotency keys. */
import { HISTORY_PRUNE_INTERVAL_MS } from '../config.ts';
import { DAY_MS } from '../domain/time.ts';
import type { Store } from '../store/store.ts';

/** Begins at once and looks again every hour; 0 days keep all history. What it returns ends it. */
export function forgetOld(
  store: Store, days: number, note: (text: string) => void,
): () => void {
  let isUnderWay = false;
  let isEnded = false;
  const prune = async (): Promise<void> => {
    if (isUnderWay) return;
    isUnderWay = true;
    try {
      await store.pruneIdempotency();
      if (days > 0) await store.pruneHistory(Date.now() - days * DAY_MS);
    } catch (error) {
      // What could not be removed now is tried again.
      const reason = error instanceof Error ? error.message : String(error);
      if (!isEnded) note(`What is too old could not be removed: ${reason}`);
    } finally {
      isUnderWay = false;
    }
  };
  void prune();
  const timer = setInterval(() => void prune(), HISTORY_PRUNE_INTERVAL_MS).unref();
  return () => {
    isEnded = true;
    clearInterval(timer);
  };
}
