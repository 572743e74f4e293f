/** Databases of embedded shops. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ShopDatabase } from '../../src/index.ts';
import { makeDatabase } from '../cli/database/setup.ts';
import { PASSWORD } from '../support/postgres/server.ts';
import type { SharedServer } from '../support/postgres/shared-server.ts';

/** An empty database; the password is in a file of the folder. */
export async function prepareDatabase(
  server: SharedServer, folder: string,
): Promise<ShopDatabase> {
  const { url, keyFile } = await makeDatabase(server, folder);
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, PASSWORD, { mode: 0o600 });
  return { database: url, serverKeyFile: keyFile, passwordFile };
}
