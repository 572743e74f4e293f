/**
 * Entry point of the search thread, so that searching and catching up block neither the main thread
 * nor the writer. Only `search.ts` starts it.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { AppError } from '../../../domain/error.ts';
import {
  resultCodeOf, SQLITE_BUSY, SQLITE_CANTOPEN, SQLITE_CORRUPT, SQLITE_FULL, SQLITE_IOERR,
  SQLITE_LOCKED, SQLITE_NOTADB, SQLITE_READONLY,
} from '../engine/disk-failure.ts';
import {
  type SearchCall, type SearchFiles, type SearchNotification, type SearchResponse,
  temporarilyUnavailable,
} from './protocol.ts';
import { SearchService } from './search-service.ts';

/** Errors after which a retry may succeed; after damage, the next search rebuilds the file. */
const TRANSIENT_CODES: ReadonlySet<number> = new Set([
  SQLITE_BUSY, SQLITE_LOCKED, SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN,
  SQLITE_CORRUPT, SQLITE_NOTADB,
]);

// The casts: only search.ts starts this thread and sends it messages, of these types.
const service = new SearchService(workerData as SearchFiles);

parentPort?.on('message', (text: string) => {
  const message = JSON.parse(text) as SearchCall | SearchNotification;
  if ('id' in message) {
    void respond(message);
    return;
  }
  service.notify(message);
  if (message.kind === 'close') parentPort?.close();
});

async function respond({ id, ...request }: SearchCall): Promise<void> {
  let response: SearchResponse;
  try {
    response = { id, value: await service.handle(request) };
  } catch (error) {
    const { code, publicDetail, cause, retryAfterSeconds } = explain(error);
    response = { id, failure: [code, publicDetail, { cause, retryAfterSeconds }] };
  }
  parentPort?.postMessage(response);
}

function explain(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const cause = error instanceof Error ? error.stack : String(error);
  return TRANSIENT_CODES.has(resultCodeOf(error))
    ? temporarilyUnavailable('The search cannot use its database now. Retry soon.', cause)
    : new AppError('internal', 'The search failed.', { cause });
}
