/**
 * The entry point of the search thread: searching and catching up block neither the thread that
 * serves nor the one that writes. Started by `search-client.ts` alone. Each request is answered
 * with its result or with an error that `search-client.ts` turns into an AppError.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { SEARCH_RETRY_AFTER_SECONDS } from './limits.ts';
import { AppError } from '../../../domain/error.ts';
import {
  resultCodeOf, SQLITE_BUSY, SQLITE_CANTOPEN, SQLITE_CORRUPT, SQLITE_FULL, SQLITE_IOERR,
  SQLITE_LOCKED, SQLITE_NOTADB, SQLITE_READONLY,
} from '../engine/disk-failure.ts';
import type {
  SearchCall, SearchFailure, SearchFiles, SearchNotification, SearchResponse,
} from './protocol.ts';
import { SearchService } from './search-service.ts';

/** Errors that a retry may not meet; after damage, the next search rebuilds the file. */
const TRANSIENT_CODES: ReadonlySet<number> = new Set([
  SQLITE_BUSY, SQLITE_LOCKED, SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN,
  SQLITE_CORRUPT, SQLITE_NOTADB,
]);

// The casts: search-client.ts alone starts this thread and sends it messages, of these types.
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
    response = { id, failure: describeFailure(error) };
  }
  parentPort?.postMessage(response);
}

function describeFailure(error: unknown): SearchFailure {
  if (error instanceof AppError) {
    const { code, publicDetail: detail, retryAfterSeconds } = error;
    return { code, detail, retryAfterSeconds };
  }
  const cause = error instanceof Error ? error.stack : String(error);
  if (!TRANSIENT_CODES.has(resultCodeOf(error))) {
    return { code: 'internal', detail: 'The search failed.', cause };
  }
  const detail = 'The search cannot use its database now. Retry soon.';
  return { code: 'unavailable', detail, retryAfterSeconds: SEARCH_RETRY_AFTER_SECONDS, cause };
}
