/**
 * Tells listeners of commits. Those of this process are told at once; those of others are found by
 * asking SQLite for its data version (https://www.sqlite.org/pragma.html#pragma_data_version), a
 * look into shared memory, and only while somebody listens.
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

  /**
   * `endSnapshot` ends what is being read: a listener that looks at once must see the commit that
   * it is told of, though others have read in the same turn before it.
   */
  constructor(file: string, endSnapshot: () => void) {
    this.#file = file;
    this.#endSnapshot = endSnapshot;
  }

  /** Call what it returns to end that. Commits until now may not be told of: read what there is. */
  add(listener: () => void): () => void {
    if (this.#isClosed) throw new AppError('unavailable', 'This server is stopping.');
    this.#listeners.add(listener);
    if (!this.#polling) {
      this.#polling = startPolling(this.#file, () => this.#tell(), () => this.#endIfUnheard());
      this.#endSnapshot();
    }
    return () => void this.#listeners.delete(listener);
  }

  /** Call it after each commit of this process. */
  noteCommit(): void {
    this.#polling?.look();
  }

  close(): void {
    this.#isClosed = true;
    this.#listeners.clear();
    this.#stop();
  }

  #tell(): void {
    this.#endSnapshot();
    for (const listener of this.#listeners) listener();
  }

  /** Not at once: whoever was told of a commit mostly listens for the next one again. */
  #endIfUnheard(): void {
    if (this.#listeners.size === 0) this.#stop();
  }

  #stop(): void {
    this.#polling?.end();
    this.#polling = undefined;
  }
}

interface Polling {
  /** Looks now. */
  look(): void;
  end(): void;
}

/** `onLooked` is called after each look of its own accord. */
function startPolling(file: string, tell: () => void, onLooked: () => void): Polling {
  const db = openReader(file);
  const find = db.prepare('PRAGMA data_version');
  let version = readVersion(find);
  const look = (): void => {
    const now = readVersion(find);
    if (now !== undefined && now === version) return;
    version = now;
    tell();
  };
  const timer = setInterval(() => {
    look();
    onLooked();
  }, COMMIT_POLL_INTERVAL_MS).unref();
  return {
    look,
    end() {
      clearInterval(timer);
      db.close();
    },
  };
}

/** Undefined where it cannot be read now: those who listen then look for themselves. */
function readVersion(find: StatementSync): number | undefined {
  try {
    return readInteger(find.get() ?? {}, 'data_version');
  } catch (error) {
    if (resultCodeOf(error) !== 0) return undefined; // locked, or unreadable
    throw error;
  }
}
