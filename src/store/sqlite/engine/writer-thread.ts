/**
 * The entry point of the writer's thread: it owns the one connection that writes, so neither an
 * fsync nor a large unit ever holds up the thread that serves. Started by `writer.ts` alone.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { AuditKey } from '../accounts/audit-segments.ts';
import { openWriter, type WriterOptions } from './connection.ts';
import { type Batch, prepareGroupCommit } from './group-commit.ts';

/** What the thread is started with. */
export interface WriterThreadData extends WriterOptions {
  readonly file: string;
  readonly auditKey: AuditKey;
}

// The casts: writer.ts alone starts this thread and talks to it, and it sends just these.
const { file, auditKey, ...options } = workerData as WriterThreadData;
const db = openWriter(file, options);
const run = prepareGroupCommit(db, auditKey);

parentPort?.on('message', (message: string) => {
  if (message !== 'close') {
    parentPort?.postMessage(JSON.stringify(run(JSON.parse(message) as Batch)));
    return;
  }
  db.close();
  parentPort?.close();
});
parentPort?.postMessage('ready');
