/**
 * Caches rendered pages in memory. An entry is valid while its seller's catalogue is at the same
 * position. Every request learns that position with its key, so no invalidation is needed.
 */
import { isStream, type Reply } from './reply.ts';

/** Estimated overhead of an entry: its key, headers and table entry. */
const ENTRY_BYTES = 1_024;

interface Entry {
  readonly position: number;
  readonly reply: Reply;
  readonly sizeBytes: number;
}

export class PageCache {
  readonly #entries = new Map<string, Entry>();
  readonly #limitBytes: number;
  #sizeBytes = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  find(key: string, position: number): Reply | undefined {
    const entry = this.#entries.get(key);
    return entry?.position === position ? entry.reply : undefined;
  }

  /** Caches a page, unless it is a stream; evicts the oldest pages at the limit. */
  set(key: string, position: number, reply: Reply): void {
    this.#remove(key);
    const { body = '' } = reply;
    if (isStream(body)) return;
    const sizeBytes = ENTRY_BYTES + Buffer.byteLength(body);
    this.#entries.set(key, { position, reply, sizeBytes });
    this.#sizeBytes += sizeBytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#sizeBytes <= this.#limitBytes) break;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    this.#sizeBytes -= this.#entries.get(key)?.sizeBytes ?? 0;
    this.#entries.delete(key);
  }
}
