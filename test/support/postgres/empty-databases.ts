/**
 * Databases with all migrations applied and no rows, which tests take turns to use: emptying one
 * costs a hundredth of creating one.
 */
import type { TestContext } from 'node:test';
import {
  type ConnectOptions, openConnection,
} from '../../../src/store/postgres/connect/open-connection.ts';
import { migrate } from '../../../src/store/postgres/schema/migrate.ts';
import { queryOf, sqlOf } from '../../../src/store/postgres/sql.ts';
import type { Connection } from '../../../src/store/postgres/wire/connection.ts';
import { deriveAuditKey } from '../../../src/store/rules/audit.ts';
import { prepareAuditLog } from '../../../src/store/sql/accounts/audit.ts';
import { readText } from '../../../src/store/sql/sql.ts';
import { TEST_KEY } from './server.ts';

/** Of a PostgreSQL server, or schemas of Citus. */
interface Databases {
  /** Creates an empty database, and returns its name. */
  createDatabase(): Promise<string>;
  /** How to migrate and empty it. */
  localOptions(name: string): ConnectOptions;
}

interface EmptyDatabase {
  readonly name: string;
  /** Stays open: a new one costs more than emptying. */
  readonly connection: Connection;
  readonly tables: readonly string[];
  isUsed: boolean;
}

export class EmptyDatabases {
  readonly #databases: Databases;
  readonly #free: EmptyDatabase[] = [];
  readonly #all: EmptyDatabase[] = [];

  constructor(databases: Databases) {
    this.#databases = databases;
  }

  /**
   * The name of a database that the test has to itself. A test that runs concurrently with others
   * first registers what ends its use: cleanups run in the order in which they are registered.
   */
  async borrow(t: Pick<TestContext, 'after'>): Promise<string> {
    const borrowed = this.#free.pop();
    const database = borrowed ?? await this.#create();
    t.after(() => this.#free.push(database));
    if (database.isUsed) await empty(database);
    database.isUsed = true;
    return database.name;
  }

  async end(): Promise<void> {
    await Promise.all(this.#all.map(({ connection }) => connection.close()));
  }

  async #create(): Promise<EmptyDatabase> {
    const name = await this.#databases.createDatabase();
    const connection = await openConnection(this.#databases.localOptions(name));
    await migrate(connection, TEST_KEY);
    const rows = await queryOf(connection)(`
      SELECT tablename::text AS name FROM pg_tables WHERE schemaname = current_schema()
      AND tablename NOT IN ('setting', 'webhook_lease')`);
    const tables = rows.map((row) => readText(row, 'name'));
    const database = { name, connection, tables, isUsed: false };
    this.#all.push(database);
    return database;
  }
}

/** Leaves the rows of a database that has just been migrated. */
async function empty({ connection, tables }: EmptyDatabase): Promise<void> {
  await connection.run([
    ...tables.map((table) => `DELETE FROM ${table}`),
    `UPDATE webhook_lease SET holder = '', expires_at = 0 WHERE holder <> '' OR expires_at <> 0`,
  ].map((text) => ({ text, values: [] })));
  await prepareAuditLog(sqlOf(connection), deriveAuditKey(TEST_KEY)).start(undefined);
}
