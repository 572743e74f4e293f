/** Runs a task now and in an interval, once at a time. Ignores its errors: it is tried again. */
export function repeat(task: () => Promise<void>, intervalMs: number) {
  let isWaiting = false;
  let running = Promise.resolve();
  const runNow = (): void => {
    if (isWaiting) return;
    isWaiting = true;
    running = running.then(() => {
      isWaiting = false;
      return task();
    }).catch(() => {});
  };
  const timer = setInterval(runNow, intervalMs).unref();
  runNow();
  return {
    runNow,
    /** Resolves once nothing is in flight. */
    stop(): Promise<void> {
      clearInterval(timer);
      return running;
    },
  };
}
