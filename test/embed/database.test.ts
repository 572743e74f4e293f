/** Embedded shops on a PostgreSQL database: locations that are rejected before it is used. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createShop, type ShopDatabase } from '../../src/index.ts';
import { makeFolder } from '../support/folder.ts';

test('a shop on a database requires a URL without a password, and a key', async (t) => {
  const folder = makeFolder(t);
  const [serverKeyFile, passwordFile] = [join(folder, 'server.key'), join(folder, 'password')];
  writeFileSync(serverKeyFile, Buffer.alloc(32), { mode: 0o600 });
  writeFileSync(passwordFile, 'secret', { mode: 0o600 });
  const database = 'postgres://user@127.0.0.1:1/shop'; // nobody listens there
  const location: ShopDatabase = { database, serverKeyFile, passwordFile };
  for (const [wrong, message] of [
    [{ database }, /Needs \{ folder \} or \{ database, serverKeyFile \}/],
    [{ ...location, folder: 'x' }, /createShop: Needs \{ folder \}, \{ database, serverKey/],
    [{ ...location, database: database.replace('@', ':geheim@') }, /contains a password: remove/],
    [{ ...location, serverKeyFile: `${serverKeyFile}.none` }, /The server key cannot be read/],
    [{ ...location, serverKeyFile: passwordFile }, /is not a server key: it must have/],
  ] as const) {
    // The cast: wrong shapes, as from JavaScript.
    await assert.rejects(createShop(wrong as ShopDatabase), message);
  }
});
