/** While something goes on for long: whether whoever asked for it still may have it. */
import { HEARTBEAT_INTERVAL_MS } from '../config.ts';

/**
 * Call what it returns before each step: it asks every 15 s, and rejects as `assertAllowed` does.
 */
export function watchPermission(assertAllowed: () => Promise<void>): () => Promise<void> {
  let askAt = performance.now() + HEARTBEAT_INTERVAL_MS;
  return async () => {
    if (performance.now() < askAt) return;
    await assertAllowed();
    askAt = performance.now() + HEARTBEAT_INTERVAL_MS;
  };
}
