/**
 * Import jobs in tables, for engines that several nodes share. Each method is one statement, so a
 * job needs no lock: `replaceJob` is a compare-and-set of the version. Files are rows of chunks.
 */
import { AppError } from '../../domain/error.ts';
import type { SellerId } from '../../domain/id.ts';
import type {
  ImportFile, ImportFileName, ImportJobKey, ImportJobStore, StoredImportJob,
} from '../nodes/import-job-store.ts';
import { IMPORT_CHUNKS_PER_READ, IMPORT_JOBS_LIST_LIMIT } from '../limits.ts';
import {
  prepareFind, prepareList, readBytes, readId, readInteger, readText, type Row, type Sql,
} from './sql.ts';

/** @param now An SQL expression: the time of the database, in milliseconds since 1970. */
export function importJobs(sql: Sql, now: string): ImportJobStore {
  const { create, find, list, replace, note, cancel, remove, listDisposable } = prepare(sql, now);
  const files = prepareFiles(sql);
  return {
    createJob: async ({ sellerId, id }) => {
      if (await create.run({ sellerId, id }) === 0) throw deleted();
    },
    findJob: ({ sellerId, id }) => find({ sellerId, id }),
    listJobs: (sellerId) => list({ sellerId }),
    async replaceJob({ content, isRunning, ...job }) {
      return await replace.run({
        ...job, content: JSON.stringify(content), isRunning: Number(isRunning),
      }) > 0;
    },
    noteProgress: ({ sellerId, id, version, content }) =>
      note({ sellerId, id, version, content: JSON.stringify(content) }),
    cancelJob: async ({ sellerId, id }) => {
      await cancel.run({ sellerId, id });
    },
    deleteJob: async ({ sellerId, id }) => {
      await remove.run({ sellerId, id });
    },
    listDisposableJobs: ({ lifeMs, limitBytes }) => listDisposable({ lifeMs, limitBytes }),
    createFile: async (job, name) => chunkedFile(files, job, name, 0),
    openFile: (job, name, sizeBytes) => chunkedFile(files, job, name, sizeBytes),
  };
}

function prepare(sql: Sql, now: string) {
  const columns = `seller_id, id, version, content, ${now} - seen_at AS idle_ms`;
  const isJob = 'seller_id = :sellerId AND id = :id';
  return {
    create: sql.prepare(`
      INSERT INTO import_job (seller_id, id, version, is_running, is_cancelled, size_bytes,
        created_at, seen_at)
      SELECT id, :id, 0, 1, 0, 0, ${now}, ${now} FROM seller WHERE id = :sellerId`),
    find: prepareFind(sql, mapJob, `
      SELECT ${columns} FROM import_job WHERE ${isJob} AND content IS NOT NULL`),
    list: prepareList(sql, mapJob, `
      SELECT ${columns} FROM import_job WHERE seller_id = :sellerId AND content IS NOT NULL
      ORDER BY created_at DESC, id LIMIT ${IMPORT_JOBS_LIST_LIMIT}`),
    replace: sql.prepare(`
      UPDATE import_job SET version = version + 1, content = :content, is_running = :isRunning,
        is_cancelled = 0, size_bytes = :sizeBytes, seen_at = ${now}
      WHERE ${isJob} AND version = :version`),
    note: prepareFind(sql, (row) => ({ isCancelled: readInteger(row, 'is_cancelled') === 1 }), `
      UPDATE import_job SET content = :content, seen_at = ${now}
      WHERE ${isJob} AND version = :version
      RETURNING is_cancelled`),
    cancel: sql.prepare(`
      UPDATE import_job SET is_cancelled = 1 WHERE ${isJob} AND is_running = 1`),
    // With its files, by their foreign key.
    remove: sql.prepare(`DELETE FROM import_job WHERE ${isJob}`),
    // Of all sellers: in the background only.
    listDisposable: prepareList(sql, mapKey, `
      SELECT seller_id, id FROM (
        SELECT seller_id, id, is_running, size_bytes, seen_at,
          sum(size_bytes) OVER (ORDER BY seen_at DESC, id) AS kept_bytes
        FROM import_job) AS job
      WHERE seen_at < ${now} - :lifeMs
        OR (is_running = 0 AND size_bytes > 0 AND kept_bytes > :limitBytes)
      ORDER BY seen_at, id LIMIT ${IMPORT_JOBS_LIST_LIMIT}`),
  };
}

function mapKey(row: Row): ImportJobKey {
  return { sellerId: readId<SellerId>(row, 'seller_id'), id: readText(row, 'id') };
}

function mapJob(row: Row): StoredImportJob {
  return {
    ...mapKey(row), version: readInteger(row, 'version'),
    content: JSON.parse(readText(row, 'content')), idleMs: readInteger(row, 'idle_ms'),
  };
}

function prepareFiles(sql: Sql) {
  const isFile = 'seller_id = :sellerId AND job_id = :id AND file = :name';
  return {
    /** Nothing if the job is deleted. */
    append: sql.prepare(`
      INSERT INTO import_job_chunk (seller_id, job_id, file, n, content)
      SELECT seller_id, id, :name, :n, :content FROM import_job
      WHERE seller_id = :sellerId AND id = :id`),
    read: sql.prepare(`
      SELECT content FROM import_job_chunk WHERE ${isFile} AND n >= :n
      ORDER BY n LIMIT ${IMPORT_CHUNKS_PER_READ}`),
    remove: sql.prepare(`DELETE FROM import_job_chunk WHERE ${isFile}`),
  };
}

function chunkedFile(
  { append, read, remove }: ReturnType<typeof prepareFiles>, { sellerId, id }: ImportJobKey,
  name: ImportFileName, storedBytes: number,
): ImportFile {
  const key = { sellerId, id, name };
  let [sizeBytes, chunks] = [storedBytes, 0];
  return {
    get sizeBytes() {
      return sizeBytes;
    },
    async append(bytes) {
      if (await append.run({ ...key, n: chunks, content: bytes }) === 0) throw deleted();
      chunks += 1;
      sizeBytes += bytes.length;
    },
    /** The end of a file counts only if all of it was read: a stocktake zeroes what it lacks. */
    async *read() {
      let [n, bytesRead] = [0, 0];
      while (bytesRead < sizeBytes) {
        const rows = await read.all({ ...key, n });
        if (rows.length === 0) throw deleted();
        for (const row of rows) {
          const { buffer, byteOffset, length } = readBytes(row, 'content');
          [n, bytesRead] = [n + 1, bytesRead + length];
          yield Buffer.from(buffer, byteOffset, length);
        }
      }
    },
    async close() {
      await remove.run(key);
    },
  };
}

function deleted(): AppError {
  return new AppError('not_found', 'The file of this import was deleted.');
}
