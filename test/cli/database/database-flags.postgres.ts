/** `--database`: migration, administration, and error messages for invalid settings. */
import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { AppError } from '../../../src/domain/error.ts';
import { migrateDatabase } from '../../../src/store/postgres/database.ts';
import { SCHEMA_VERSION } from '../../../src/store/sqlite/schema/migrate.ts';
import { preload, run, startServing } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { send } from '../../support/http.ts';
import { findFreePort } from '../../support/listening.ts';
import { NO_POSTGRES } from '../../support/postgres/install.ts';
import { PASSWORD, USER } from '../../support/postgres/server.ts';
import { type SharedServer, sharePostgres } from '../../support/postgres/shared-server.ts';
import { makeDatabase } from './setup.ts';

/** A module that logs every loaded file of the PostgreSQL adapter to standard error. */
const PROBE = `
import { registerHooks } from 'node:module';
registerHooks({
  load(url, context, next) {
    if (/store.postgres/.test(url)) process.stderr.write('LOADED ' + url + '\\n');
    return next(url, context);
  },
});`;

describe('a database', { skip: NO_POSTGRES }, () => {
  let server: SharedServer;
  before(async () => { server = await sharePostgres(); });

  test('is the only reason to load more than the settings of PostgreSQL', async (t) => {
    const folder = makeFolder(t);
    const { succeed, environment, flags } = await makeDatabase(server, folder);
    await succeed('migrate');
    writeFileSync(join(folder, 'probe.mjs'), PROBE);
    const probe = preload(join(folder, 'probe.mjs'));
    for (const [args, expected] of [
      [['--data', join(folder, 'data')], /^(?:LOADED .*postgres\/adapter\.ts\n)+$/],
      [flags, /LOADED .*postgres\/wire\/connection/],
    ] as const) {
      const serving = await startServing(t, args, { ...environment, ...probe });
      assert.equal((await send(serving.port, { path: '/readyz' })).status, 200);
      assert.equal(await serving.stop('SIGTERM'), 0);
      assert.match(serving.notes().replaceAll(/^(?!LOADED).*\n/gm, ''), expected);
    }
  });

  test('is migrated once, and can then be administered', async (t) => {
    const { succeed, run: runOn } = await makeDatabase(server, makeFolder(t));
    for (const command of [['seller', 'list'], ['serve', '--port', '0']]) {
      const early = await runOn(command);
      assert.equal(early.status, 1);
      assert.equal(early.notes.trim(),
        'The database is empty. Run `migrate` once, then start the servers.');
    }
    const both = await Promise.all([succeed('migrate'), succeed('migrate')]);
    assert.deepEqual(both.sort(), [
      `The database already has schema version ${SCHEMA_VERSION}.`,
      `The database is ready, with schema version ${SCHEMA_VERSION}.`,
    ]);
    const id = await succeed('seller', 'create', 'A shop');
    const key = JSON.parse(await succeed('key', 'create', '--name', 'test', '--json'));
    assert.match(await succeed('key', 'list'), new RegExp(key.id));
    await succeed('key', 'revoke', key.id);
    assert.match(await succeed('seller', 'disable', id), /Disabled/);
    assert.match(await succeed('seller', 'invite'), /^\w+/);
  });

  test('is rejected with another server key, and with another version of the schema', async (t) => {
    const { flags, environment, query, succeed, run: runOn } =
      await makeDatabase(server, makeFolder(t));
    await succeed('migrate');
    const other = join(makeFolder(t), 'other.key');
    writeFileSync(other, Buffer.alloc(32, 'other'), { mode: 0o600 });
    for (const command of ['migrate', 'seller list']) {
      const { status, notes } = await run(
        [...command.split(' '), ...flags.slice(0, 2), '--server-key-file', other], environment);
      assert.equal(status, 1);
      assert.match(notes, /^The database belongs to another server key\. Use the file with which/);
    }
    for (const [version, message] of [
      [99, /^The database was written by a newer version\. It was left unchanged: run that/],
      [1, /^The database has a format from before the first release.*into an empty database\.$/m],
    ] as const) {
      await query(`UPDATE setting SET value = '${version}' WHERE name = 'schema_version'`);
      for (const command of [['migrate'], ['seller', 'list'], ['doctor']]) {
        const { status, notes } = await runOn(command);
        assert.equal(status, 1);
        assert.match(notes, message);
      }
    }
  });

  test('reads its password from a file that others cannot access', async (t) => {
    const folder = makeFolder(t);
    const { flags, environment, succeed } = await makeDatabase(server, folder);
    await succeed('migrate');
    const file = join(folder, 'password');
    writeFileSync(file, `${PASSWORD}\n`, { mode: 0o640 });
    const args = ['seller', 'list', ...flags, '--database-password-file', file];
    const wrong = { ...environment, PGPASSWORD: 'wrong' };
    const { status, notes } = await run(args, wrong);
    assert.equal(status, 0, notes);
    chmodSync(file, 0o644);
    const open = await run(args, wrong);
    assert.equal(open.status, 1);
    assert.match(open.notes, /Every user of this machine can access the password in .*chmod o= /);
  });

  test('that cannot be opened causes an error that names the setting to change', async (t) => {
    const folder = makeFolder(t);
    const { url, keyFile } = await makeDatabase(server, folder);
    const free = await findFreePort();
    const [right, wrong] = [PASSWORD, 'wrong'].map((password, n) => {
      const file = join(folder, `password-${n}`);
      writeFileSync(file, password, { mode: 0o600 });
      return file;
    });
    const tls = '?sslmode=verify-full';
    for (const [database, passwordFile, message] of [
      [url, wrong, /password authentication failed for user.*Check the user.*PGPASSWORD/],
      [`${url}x`, right, /database "\w+x" does not exist\. Check the name after the last slash/],
      [url.replace(USER, 'nobody'), right, /password authentication failed for user "nobody"/],
      [url.replace(String(server.port), String(free)), right,
        /port \d+ failed: connect ECONNREFUSED.*\. Check host and port .*listen_addresses/],
      [url + tls, right, /self-signed certificate.*\?sslrootcert=FILE$/],
      [`${url}${tls}&sslrootcert=${folder}/none.pem`, right, /Check sslrootcert, sslcert and/],
      [url, `${folder}/none`, /none'\. Check the file with the password in the settings\.$/],
    ] as const) {
      await assert.rejects(migrateDatabase({ database, serverKeyFile: keyFile, passwordFile }),
        (error) => {
          assert.ok(error instanceof AppError);
          assert.match(error.message, /^The database cannot be used: connection to server at "127/);
          assert.match(error.message, message);
          return true;
        });
    }
  });
});
