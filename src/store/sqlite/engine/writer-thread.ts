/**
 * Entry point of the writer thread, which has the only writable connection: neither an fsync nor a
 * large mutation blocks the main thread. Only `writer.ts` starts it.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { AuditKey } from '../../rules/audit.ts';
import { openWriter } from './connection.ts';
import { openFiles, prepareProof } from '../files/open-files.ts';
import { OPEN_FILES_CHECK_INTERVAL_MS } from '../limits.ts';
import { acknowledgeUnlessLost, type Batch, prepareGroupCommit } from './group-commit.ts';

/** The thread's start data. */
export interface WriterThreadData {
  readonly folder: string;
  readonly file: string;
  /** Maximum file size in pages of 4 KiB; undefined for no limit. */
  readonly pageLimit: number | undefined;
  readonly auditKey: AuditKey;
}

// The casts: only writer.ts starts this thread and sends it messages, of exactly these types.
const { folder, file, pageLimit, auditKey } = workerData as WriterThreadData;
const db = openWriter(file, pageLimit);
const files = openFiles(folder, file);
const prove = prepareProof(files);
const run = acknowledgeUnlessLost(prepareGroupCommit(db, auditKey), () => isLost(true));
/** For as long as this process lives. */
let loss: string | undefined;

function isLost(isQuick: boolean): boolean {
  loss ??= prove(isQuick);
  if (loss !== undefined) parentPort?.postMessage({ loss }); // before the outcomes it explains
  return loss !== undefined;
}

// The main thread sends the next batch after the outcomes of the last one.
parentPort?.on('message', async (message: string) => {
  if (message !== 'close') {
    parentPort?.postMessage(JSON.stringify(await run(JSON.parse(message) as Batch)));
    return;
  }
  db.close();
  parentPort?.close();
});
setInterval(isLost, OPEN_FILES_CHECK_INTERVAL_MS, false).unref();
parentPort?.postMessage(files);
