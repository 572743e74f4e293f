/** A PostgreSQL database for the command line, with its flags, files and environment. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openConnection } from '../../../src/store/postgres/connect/open-connection.ts';
import type { Row } from '../../../src/store/postgres/wire/values.ts';
import { type Finished, run } from '../../support/command.ts';
import { PASSWORD, USER } from '../../support/postgres/server.ts';
import type { SharedServer } from '../../support/postgres/shared-server.ts';

export interface CommandDatabase {
  readonly url: string;
  readonly keyFile: string;
  /** `--database` and `--server-key-file`. */
  readonly flags: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  /** Runs a command on the database, and expects it to succeed. */
  succeed(...args: readonly string[]): Promise<string>;
  run(args: readonly string[], environment?: NodeJS.ProcessEnv): Promise<Finished>;
  /** Runs SQL, as an operator does with psql. */
  query(text: string): Promise<readonly Row[]>;
}

/** An empty database. */
export async function makeDatabase(
  server: SharedServer, folder: string,
): Promise<CommandDatabase> {
  const database = await server.createDatabase();
  const keyFile = join(folder, 'server.key');
  writeFileSync(keyFile, Buffer.alloc(32, database), { mode: 0o600 });
  const url = `postgres://${USER}@127.0.0.1:${server.port}/${database}`;
  const flags = ['--database', url, '--server-key-file', keyFile];
  // Without the settings of the user who runs the tests.
  const environment = { PGPASSWORD: PASSWORD, PGPASSFILE: join(folder, 'none') };
  return {
    url, keyFile, flags, environment,
    run: (args, more = {}) => run([...args, ...flags], { ...environment, ...more }),
    async succeed(...args) {
      const { status, out, notes } = await run([...args, ...flags], environment);
      assert.equal(status, 0, notes);
      return out.trim();
    },
    async query(text) {
      const connection = await openConnection(server.connectOptions(database));
      const [result] = await connection.run([{ text, values: [], isUnnamed: true }]);
      await connection.close();
      return result?.rows ?? [];
    },
  };
}
