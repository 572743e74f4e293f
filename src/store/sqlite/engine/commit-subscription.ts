/**
 * Notifies listeners of commits: immediately of this process's own; those of other processes are
 * found by polling, only while there are listeners.
 */
import { COMMIT_POLL_INTERVAL_MS } from '../limits.ts';
import { AppError } from '../../../domain/error.ts';
import type { Reader } from './reader.ts';

export class CommitSubscriptions {
  readonly #reader: Reader;
  readonly #listeners = new Set<() => void>();
  #version: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  /** Returns the unsubscribe function. Earlier commits are not notified: read first. */
  add(listener: () => void): () => void {
    if (this.#isClosed) throw new AppError('unavailable', 'This server is stopping.');
    if (this.#listeners.size === 0) {
      this.#version = this.#reader.readDataVersion();
      this.#timer = setInterval(() => this.poll(), COMMIT_POLL_INTERVAL_MS).unref();
    }
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) clearInterval(this.#timer);
    };
  }

  /** Call it after each commit of this process. */
  poll(): void {
    if (this.#listeners.size === 0) return;
    const version = this.#reader.readDataVersion();
    // If it cannot be read now, notify listeners anyway.
    if (version !== undefined && version === this.#version) return;
    this.#version = version;
    for (const listener of this.#listeners) listener();
  }

  /** Call it before closing the reader. */
  close(): void {
    this.#isClosed = true;
    this.#listeners.clear();
    clearInterval(this.#timer);
  }
}
