/**
 * What the tests of a process share, such as a server, lives until the process ends: a worker of
 * the runner runs many files. Without the runner a process runs one file.
 */
import { after, type TestContext } from 'node:test';

const cleanups: (() => unknown)[] = [];

/** Runs `cleanUp` after the last test of this process, before what was registered earlier. */
export function atProcessEnd(cleanUp: () => unknown): void {
  cleanups.push(cleanUp);
}

/** In place of a test, for what is made once and lives until the process ends. */
export const processEnd: Pick<TestContext, 'after'> = {
  // The cast: cleanup functions take no arguments.
  after: (cleanUp) => atProcessEnd(cleanUp as () => unknown),
};

/** Returns the errors of those that failed. */
export async function runProcessCleanups(): Promise<unknown[]> {
  const errors: unknown[] = [];
  for (const cleanUp of cleanups.splice(0).toReversed()) {
    try {
      await cleanUp();
    } catch (error) {
      errors.push(error);
    }
  }
  return errors;
}

if (process.env['TEST_WORKER'] === undefined) {
  after(async () => {
    for (const error of await runProcessCleanups()) throw error;
  });
}
