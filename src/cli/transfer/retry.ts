/** Tries again what failed for a while: a connection that broke, a server that is busy. */
import { setTimeout as wait } from 'node:timers/promises';
import { type Backoff, retryDelayMs } from '../../runtime/backoff.ts';
import { CommandFailure } from '../command.ts';

/** How many retries, and the delays before them. */
interface RetryPolicy extends Backoff {
  readonly retries: number;
}

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
 * Runs an attempt and repeats it after a temporary failure, as often as the policy allows. A
 * server that was never reached is not waited for; one that went away may be restarting.
 * @throws CommandFailure; TemporaryFailure when no retry is left
 */
export async function withRetries<Result>(
  attempt: () => Promise<Result>, policy: RetryPolicy, note: (text: string) => void,
): Promise<Result> {
  let wasReached = false;
  for (let failures = 0; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof TemporaryFailure)) throw error;
      wasReached ||= error.wasReached;
      if (!wasReached) throw new CommandFailure(error.message);
      if (failures === policy.retries) throw error;
      const waitMs = retryDelayMs(policy, failures, { retryAfterMs: error.retryAfterMs });
      const count = `${failures + 1} of ${policy.retries}`;
      note(`${error.message} Trying again in ${Math.ceil(waitMs / 1000)} s (${count}).`);
      await wait(waitMs);
    }
  }
}
