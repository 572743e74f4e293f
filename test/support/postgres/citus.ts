/**
 * Schemas of the database that `SELLER_API_TEST_CITUS` names: the URL of a database of a Citus
 * coordinator, with the extension. Its user may create schemas there, and change its tables only.
 */
import { randomUUID } from 'node:crypto';
import { parseDatabaseUrl } from '../../../src/store/postgres/connect/database-url.ts';
import {
  type ConnectOptions, openConnection,
} from '../../../src/store/postgres/connect/open-connection.ts';

const URL = process.env['SELLER_API_TEST_CITUS'];

/** For `skip` of tests that need Citus. */
export const NO_CITUS = URL === undefined
  && 'NOT TESTED: needs SELLER_API_TEST_CITUS=postgres://user@coordinator/database';

export class CitusSchemas {
  readonly #names: string[] = [];

  async createDatabase(): Promise<string> {
    const name = `test_${randomUUID().replaceAll('-', '')}`;
    await this.#execute(`CREATE SCHEMA ${name}`);
    this.#names.push(name);
    return name;
  }

  /** Few shards: creating them takes most of the time. */
  localOptions(schema: string): ConnectOptions {
    const settings = { search_path: schema, 'citus.shard_count': '4' };
    return { ...parseDatabaseUrl(URL ?? '', process.env), settings };
  }

  /** Removes the schemas. */
  async end(): Promise<void> {
    for (const name of this.#names) await this.#execute(`DROP SCHEMA ${name} CASCADE`);
  }

  async #execute(text: string): Promise<void> {
    const connection = await openConnection(this.localOptions('public'));
    await connection.run([{ text, values: [], isUnnamed: true }]);
    await connection.close();
  }
}
