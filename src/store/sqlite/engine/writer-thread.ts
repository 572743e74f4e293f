/**
 * Entry point of the writer thread, which has the only writable connection: neither an fsync nor a
 * large mutation blocks the main thread. Only `writer.ts` starts it.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { AuditKey } from '../../rules/audit.ts';
import { openWriter } from './connection.ts';
import { type Batch, prepareGroupCommit } from './group-commit.ts';

/** The thread's start data. */
export interface WriterThreadData {
  readonly file: string;
  /** Maximum file size in pages of 4 KiB; undefined for no limit. */
  readonly pageLimit: number | undefined;
  readonly auditKey: AuditKey;
}

// The casts: only writer.ts starts this thread and sends it messages, of exactly these types.
const { file, pageLimit, auditKey } = workerData as WriterThreadData;
const db = openWriter(file, pageLimit);
const run = prepareGroupCommit(db, auditKey);

// The main thread sends the next batch after the outcomes of the last one.
parentPort?.on('message', async (message: string) => {
  if (message !== 'close') {
    parentPort?.postMessage(JSON.stringify(await run(JSON.parse(message) as Batch)));
    return;
  }
  db.close();
  parentPort?.close();
});
parentPort?.postMessage('ready');
