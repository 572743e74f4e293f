/**
 * Notifies listeners of commits: at once after those of this process. Those of other processes are
 * found by polling the data version (https://www.sqlite.org/pragma.html#pragma_data_version), a
 * look into shared memory, only while there are listeners.
 */
import type { StatementSync } from 'node:sqlite';
import { COMMIT_POLL_INTERVAL_MS } from '../limits.ts';
import { AppError } from '../../../domain/error.ts';
import { openReader } from './connection.ts';
import { resultCodeOf } from './disk-failure.ts';
import { readInteger } from './row.ts';

export class CommitSubscriptions {
  readonly #file: string;
  readonly #endSnapshot: () => void;
  readonly #listeners = new Set<() => void>();
  #polling: Polling | undefined;
  #isClosed = false;

  /** `endSnapshot` ends the read snapshot, so that listeners see the commit. */
  constructor(file: string, endSnapshot: () => void) {
    this.#file = file;
    this.#endSnapshot = endSnapshot;
  }

  /** Returns the function that unsubscribes. Earlier commits are not notified: read first. */
  add(listener: () => void): () => void {
    if (this.#isClosed) throw new AppError('unavailable', 'This server is stopping.');
    this.#listeners.add(listener);
    if (!this.#polling) {
      this.#polling = startPolling(this.#file, () => this.#notify(), () => this.#stopIfUnused());
      this.#endSnapshot();
    }
    return () => void this.#listeners.delete(listener);
  }

  /** Call it after each commit of this process. */
  noteCommit(): void {
    this.#polling?.poll();
  }

  close(): void {
    this.#isClosed = true;
    this.#listeners.clear();
    this.#stop();
  }

  #notify(): void {
    this.#endSnapshot();
    for (const listener of this.#listeners) listener();
  }

  /** Not at once: a listener mostly subscribes again after a commit. */
  #stopIfUnused(): void {
    if (this.#listeners.size === 0) this.#stop();
  }

  #stop(): void {
    this.#polling?.end();
    this.#polling = undefined;
  }
}

interface Polling {
  /** Polls now. */
  poll(): void;
  end(): void;
}

/** `onPolled` is called after each poll of the timer. */
function startPolling(file: string, notify: () => void, onPolled: () => void): Polling {
  const db = openReader(file);
  const find = db.prepare('PRAGMA data_version');
  let version = readVersion(find);
  const poll = (): void => {
    const now = readVersion(find);
    if (now !== undefined && now === version) return;
    version = now;
    notify();
  };
  const timer = setInterval(() => {
    poll();
    onPolled();
  }, COMMIT_POLL_INTERVAL_MS).unref();
  return {
    poll,
    end() {
      clearInterval(timer);
      db.close();
    },
  };
}

/** Undefined if it cannot be read now: then listeners are notified in case. */
function readVersion(find: StatementSync): number | undefined {
  try {
    return readInteger(find.get() ?? {}, 'data_version');
  } catch (error) {
    if (resultCodeOf(error) !== 0) return undefined; // locked, or unreadable
    throw error;
  }
}
