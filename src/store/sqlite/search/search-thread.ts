/**
 * The entry point of the search's thread: catching up and searching never hold up the thread that
 * serves, nor the one that writes. Started by `search-calls.ts` alone.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { SearchCall, SearchFiles, SearchNote } from './messages.ts';
import { SearchService } from './search-service.ts';

// The casts: search-calls.ts alone starts this thread and talks to it, and it sends just these.
const service = new SearchService(workerData as SearchFiles, (answer) => {
  parentPort?.postMessage(answer);
});

parentPort?.on('message', (text: string) => {
  const message = JSON.parse(text) as SearchCall | SearchNote;
  if ('id' in message) {
    service.call(message);
    return;
  }
  service.note(message);
  if (message.kind === 'close') parentPort?.close();
});
