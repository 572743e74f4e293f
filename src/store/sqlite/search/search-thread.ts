/**
 * Entry point of the search thread, so that searching and catching up block neither the main thread
 * nor the writer. Only `search.ts` starts it.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { AppError } from '../../../domain/error.ts';
import { temporarilyUnavailable } from '../../rules/search-rejections.ts';
import { isStorageFailure } from '../engine/disk-failure.ts';
import type { SearchCall, SearchFiles, SearchNotification, SearchResponse } from './protocol.ts';
import { SearchService } from './search-service.ts';

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
  // After damage, the next search rebuilds the file.
  return isStorageFailure(error)
    ? temporarilyUnavailable('The search cannot use its database now. Retry soon.', cause)
    : new AppError('internal', 'The search failed.', { cause });
}
