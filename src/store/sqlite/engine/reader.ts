/**
 * The read connection. All reads of one event-loop iteration share one snapshot, which saves WAL
 * locks and makes several statements consistent. A snapshot ends with its iteration, and before a
 * commit of this process is acknowledged: clients read their own writes.
 */
import type { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../../domain/error.ts';
import { type Generation, toGeneration } from '../../../domain/revision.ts';
import type { Grant } from '../../access-store.ts';
import { findGeneration, readCursorKey } from './database-file.ts';
import { countChanges, readMark } from './high-water.ts';
import { assertKnownVersion, describeVersion } from '../schema/migrate.ts';
import { openReader } from './connection.ts';
import { explainAccess, resultCodeOf } from './disk-failure.ts';
import { chainQueries } from '../history/chain-queries.ts';
import { feedQueries } from '../history/history-queries.ts';
import { grantQueries } from '../catalogue/grants.ts';
import { productQueries } from '../catalogue/products.ts';
import { readInteger } from '../../sql/sql.ts';
import { reportQueries, sharedQueries } from '../../sql/shared.ts';
import { sqlOf } from '../sql.ts';
import { prepareListLevels, prepareReadLevels } from '../catalogue/stock-levels.ts';
import { dueWebhookQueries } from '../webhooks/due-webhooks.ts';
import { openBeside } from '../files/open-files.ts';
import { COMMIT_POLL_INTERVAL_MS } from '../limits.ts';
import type { Writer } from './writer.ts';

type Queries = ReturnType<typeof prepareQueries>;
/** Each query as a port method. */
type QueryMethods = {
  readonly [Name in keyof Queries]:
    (...args: Parameters<Queries[Name]>) => Promise<Awaited<ReturnType<Queries[Name]>>>;
};

export class Reader {
  readonly #db: DatabaseSync;
  readonly #begin;
  readonly #end;
  readonly #findDataVersion;
  readonly #writer;
  /** Permissions read in this snapshot: concurrent requests mostly use the same few keys. */
  readonly #grants = new Map<string, Grant>();

  /** 32 bytes, created with the database. */
  readonly cursorKey: Uint8Array;
  readonly generation: Generation;
  /** Each on the snapshot of its event-loop iteration. */
  readonly queries: Queries;
  readonly methods: QueryMethods;

  /** @throws AppError `unavailable` for a version that this program cannot read */
  constructor(file: string, writer?: Pick<Writer, 'files' | 'assertNotLost'>) {
    this.#writer = writer;
    this.#db = openBeside(writer?.files ?? [], () => openReader(file));
    try {
      assertKnownVersion(describeVersion(this.#db).version, file);
      this.cursorKey = readCursorKey(this.#db);
      this.generation = toGeneration(findGeneration(this.#db));
      this.#begin = this.#db.prepare('BEGIN');
      this.#end = this.#db.prepare('COMMIT');
      this.#findDataVersion = this.#db.prepare('PRAGMA data_version');
      const queries = Object.entries(prepareQueries(this.#db)).map(([name, prepared]) => {
        // The cast: arguments and results are passed through.
        const query = explainFailures(prepared as Query);
        return [name, (...args: unknown[]) => {
          this.#beginSnapshot();
          return query(...args);
        }] as const;
      });
      const methods = queries.map(([name, query]) =>
        [name, async (...args: unknown[]) => query(...args)] as const);
      // The casts: each has the signature of the query it wraps.
      this.queries = Object.fromEntries(queries) as Queries;
      this.methods = Object.fromEntries(methods) as QueryMethods;
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  #beginSnapshot(): void {
    if (!this.#db.isOpen) throw new AppError('unavailable', 'This server is stopping.');
    this.#writer?.assertNotLost();
    if (!this.#db.isTransaction) {
      this.#grants.clear();
      this.#begin.run();
      setImmediate(() => this.endSnapshot());
    }
  }

  findGrant(hash: string): Grant | undefined {
    this.#beginSnapshot();
    const cached = this.#grants.get(hash);
    if (cached) return cached;
    const grant = this.queries.findGrant(hash);
    if (grant) this.#grants.set(hash, grant);
    return grant;
  }

  endSnapshot(): void {
    if (!this.#db.isOpen || !this.#db.isTransaction) return;
    try {
      this.#end.run();
    } catch (error) {
      // The disk failed. Nothing awaits this, so it must not throw, which would end the process.
      if (resultCodeOf(error) === 0) throw error;
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
    }
  }

  /**
   * Ends the snapshot and returns a number that every commit changes, read from shared memory
   * (https://www.sqlite.org/pragma.html#pragma_data_version). Undefined if it cannot be read now.
   */
  readDataVersion(): number | undefined {
    this.endSnapshot();
    try {
      return readInteger(this.#findDataVersion.get() ?? {}, 'data_version');
    } catch (error) {
      if (resultCodeOf(error) !== 0) return undefined; // locked, or unreadable
      throw error;
    }
  }

  close(): void {
    if (this.#db.isOpen) this.#db.close();
  }
}

type Query = (...args: unknown[]) => unknown;

/** An unreadable disk is not our bug: the request gets 503, not 500. */
function explainFailures(query: Query): Query {
  const fail = (error: unknown): never => {
    throw explainAccess(error, 'reading');
  };
  return (...args) => {
    try {
      const result = query(...args);
      return result instanceof Promise ? result.catch(fail) : result;
    } catch (error) {
      return fail(error);
    }
  };
}

function prepareQueries(db: DatabaseSync) {
  return {
    ...sharedQueries(sqlOf(db)), ...reportQueries(sqlOf(db)),
    ...grantQueries(db), ...productQueries(db), ...feedQueries(db), ...chainQueries(db),
    ...dueWebhookQueries(db),
    readLevels: prepareReadLevels(db),
    listLevels: prepareListLevels(db),
    readMark: () => readMark(db),
    countChanges: () => countChanges(db),
  };
}

/**
 * Notifies listeners of commits: immediately of this process's own; those of other processes are
 * found by polling, only while there are listeners.
 */
export function openCommitSubscriptions(reader: Reader) {
  const listeners = new Set<() => void>();
  let version: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  /** Call it after each commit of this process. */
  function poll(): void {
    if (listeners.size === 0) return;
    const newVersion = reader.readDataVersion();
    // If it cannot be read now, notify listeners anyway.
    if (newVersion !== undefined && newVersion === version) return;
    version = newVersion;
    for (const listener of listeners) listener();
  }

  return {
    poll,
    /** Returns the unsubscribe function. Earlier commits are not notified: read first. */
    add(listener: () => void): () => void {
      if (isClosed) throw new AppError('unavailable', 'This server is stopping.');
      if (listeners.size === 0) {
        version = reader.readDataVersion();
        timer = setInterval(poll, COMMIT_POLL_INTERVAL_MS).unref();
      }
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) clearInterval(timer);
      };
    },
    /** Call it before closing the reader. */
    close(): void {
      isClosed = true;
      listeners.clear();
      clearInterval(timer);
    },
  };
}
