/** Tries again what failed for a while: a connection that broke, a server that is busy. */
import { setTimeout as wait } from 'node:timers/promises';
import { RETRY_WAIT_LIMIT_MS } from '../limits.ts';
import { CommandFailure } from '../command.ts';

/** A failure that may pass. */
export class TemporaryFailure extends CommandFailure {
  override readonly name = 'TemporaryFailure';
  /** False where no server was there to fail. */
  readonly wasReached: boolean;
  /** What the server asks to wait. */
  readonly retryAfterMs: number;

  constructor(
    message: string, { wasReached = true, retryAfterMs = 0 }: Partial<TemporaryFailure> = {},
  ) {
    super(message);
    this.wasReached = wasReached;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * What one of the attempts resolves with; there is one more of them than waits between them. Nobody
 * waits for a server that is not there at all; one that was there and went may be starting again.
 * @throws CommandFailure; TemporaryFailure once there is no attempt left
 */
export async function withRetries<Result>(
  attempt: () => Promise<Result>, waitsMs: readonly number[], note: (text: string) => void,
): Promise<Result> {
  let wasReached = false;
  for (let failures = 0; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof TemporaryFailure)) throw error;
      wasReached ||= error.wasReached;
      if (!wasReached) throw new CommandFailure(error.message);
      const shortestMs = waitsMs[failures];
      if (shortestMs === undefined) throw error;
      const waitMs = Math.min(Math.max(shortestMs, error.retryAfterMs), RETRY_WAIT_LIMIT_MS);
      const count = `${failures + 1} of ${waitsMs.length}`;
      note(`${error.message} Trying again in ${Math.ceil(waitMs / 1000)} s (${count}).`);
      await wait(waitMs);
    }
  }
}
