/**
 * Entry point of the writer thread, which has the only writable connection: neither an fsync nor a
 * large mutation blocks the thread that serves requests. Only `writer.ts` starts it.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { AuditKey } from '../accounts/audit-segments.ts';
import { openWriter } from './connection.ts';
import { type Batch, prepareGroupCommit } from './group-commit.ts';

/** What the thread is started with. */
export interface WriterThreadData {
  readonly file: string;
  /** Maximum size of the file in pages of 4 KiB; undefined for no limit. */
  readonly pageLimit: number | undefined;
  readonly auditKey: AuditKey;
}

// The casts: writer.ts alone starts this thread and talks to it, and it sends just these.
const { file, pageLimit, auditKey } = workerData as WriterThreadData;
const db = openWriter(file, pageLimit);
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
