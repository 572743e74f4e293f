/**
 * Caches rendered pages in memory. An entry is valid while its seller's catalogue is at the same
 * position. Every request learns that position with its key, so no invalidation is needed.
 */
import { BoundedMap } from '../../runtime/bounded-map.ts';
import { isStream, type Reply } from './reply.ts';

/** Estimated overhead of an entry: its key, headers and table entry. */
const ENTRY_BYTES = 1_024;

interface Entry {
  readonly position: number;
  readonly reply: Reply;
  readonly sizeBytes: number;
}

export type PageCache = ReturnType<typeof makePageCache>;

export function makePageCache(limitBytes: number) {
  const entries = new BoundedMap<string, Entry>(limitBytes, ({ sizeBytes }) => sizeBytes);
  return {
    find(key: string, position: number): Reply | undefined {
      const entry = entries.get(key);
      return entry?.position === position ? entry.reply : undefined;
    },
    /** Caches a page, unless it is a stream; evicts the oldest pages at the limit. */
    set(key: string, position: number, reply: Reply): void {
      const { body = '' } = reply;
      if (isStream(body)) {
        entries.delete(key);
        return;
      }
      const sizeBytes = ENTRY_BYTES + Buffer.byteLength(body);
      entries.set(key, { position, reply, sizeBytes });
    },
  };
}
