/** PostgreSQL under a load of writes: killed, read-only, without free connections, replaced. */
import assert from 'node:assert/strict';
import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { openConnection } from '../../../src/store/postgres/connect/open-connection.ts';
import type { Connection } from '../../../src/store/postgres/wire/connection.ts';
import { countTo, eventually, makeSeller } from '../../store/contract/fixture.ts';
import { findServerUser, NO_POSTGRES } from '../../support/postgres/install.ts';
import { startPostgres } from '../../support/postgres/server.ts';
import { fillDisk, freeDisk, mountSmallDisk } from '../../support/small-disk.ts';
import { Load } from './load.ts';

const KILLS = 8;
const UNAVAILABLE = { code: 'unavailable', retryAfterSeconds: 1 };

test('loses no acknowledged write when PostgreSQL is killed under load', {
  skip: NO_POSTGRES,
}, async (t) => {
  const server = await startPostgres();
  t.after(() => server.end());
  const load = await Load.open(t, server.connectOptions(await server.createDatabase()));
  for (const _ of countTo(KILLS)) {
    load.start();
    await load.acknowledge(5 + load.random.below(10));
    await wait(load.random.below(20));
    await server.kill();
    await wait(load.random.below(500));
    await server.start();
    await load.acknowledge(5);
    await load.check();
  }
  t.diagnostic(`${KILLS} kills: ${load.describe()}`);
});

test('rejects writes while all connections of the server are taken, then continues', {
  skip: NO_POSTGRES,
}, async (t) => {
  const server = await startPostgres({ settings: { max_connections: '30' } });
  t.after(() => server.end());
  const options = server.connectOptions(await server.createDatabase());
  const load = await Load.open(t, options);
  const administrator = await server.openAdministrator();
  t.after(() => administrator.close());
  load.start();
  for (const _ of countTo(3)) {
    await load.acknowledge(5);
    const taken: Connection[] = [];
    /** Takes connections until none is left for the store. */
    const take = async (): Promise<void> => {
      for (;;) {
        await administrator.run([{
          text: `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE application_name = 'test' AND pid <> pg_backend_pid()`,
          values: [],
        }]);
        try {
          for (;;) taken.push(await openConnection({ ...options, applicationName: 'other' }));
        } catch {
          const [result] = await administrator.run([{
            text: `SELECT FROM pg_stat_activity WHERE application_name = 'test'
              AND usename = 'seller_api'`,
            values: [],
          }]);
          if (result?.count === 0) return;
        }
      }
    };
    for (const store of load.stores) {
      await eventually(async () => {
        await take(); // again if the store was faster
        await assert.rejects(makeSeller(store), UNAVAILABLE);
      });
    }
    await Promise.all(taken.map((connection) => connection.close()));
  }
  await load.acknowledge(5);
  await load.check();
  t.diagnostic(`connections taken 3 times: ${load.describe()}`);
});

test('rejects writes while the server is read-only, reads, then continues', {
  skip: NO_POSTGRES,
}, async (t) => {
  const server = await startPostgres();
  t.after(() => server.end());
  const load = await Load.open(t, server.connectOptions(await server.createDatabase()));
  const administrator = await server.openAdministrator();
  t.after(() => administrator.close());
  const alter = async (text: string): Promise<void> => {
    for (const one of [`ALTER SYSTEM ${text}`, 'SELECT pg_reload_conf()']) {
      await administrator.run([{ text: one, values: [], isUnnamed: true }]);
    }
  };
  load.start();
  for (const _ of countTo(3)) {
    await load.acknowledge(5);
    await alter('SET default_transaction_read_only = on');
    for (const store of load.stores) {
      await eventually(() => assert.rejects(makeSeller(store), UNAVAILABLE));
    }
    const [clerk = assert.fail()] = load.clerks;
    await clerk.store.listProducts(clerk.actor.sellerId, { after: undefined, limit: 10 });
    await alter('RESET default_transaction_read_only');
    await load.acknowledge(5);
  }
  await load.check();
  t.diagnostic(`read-only 3 times: ${load.describe()}`);
});

test('loses no acknowledged write when a synchronous standby replaces its killed primary', {
  skip: NO_POSTGRES,
}, async (t) => {
  const primary = await startPostgres();
  t.after(() => primary.end());
  const standby = await startPostgres({ standbyOf: primary });
  t.after(() => standby.end());
  const administrator = await primary.openAdministrator();
  const run = async (text: string) =>
    (await administrator.run([{ text, values: [], isUnnamed: true }]))[0]?.rows ?? [];
  await run(`ALTER SYSTEM SET synchronous_standby_names = '*'`);
  await run('SELECT pg_reload_conf()');
  await eventually(async () => assert.deepEqual(
    await run('SELECT sync_state FROM pg_stat_replication'), [{ sync_state: 'sync' }]));
  await administrator.close();
  const options = primary.connectOptions(await primary.createDatabase());
  const { servers: [second = assert.fail()] } = standby.connectOptions('');
  const load = await Load.open(t, options, { ...options, servers: [...options.servers, second] });
  load.start();
  await load.acknowledge(20);
  await primary.kill();
  const { acknowledged } = load.counts;
  await standby.promote();
  await load.acknowledge(20);
  await load.check({ ...options, servers: [second] });
  t.diagnostic(`promoted after ${acknowledged} writes: ${load.describe()}`);
});

test('rejects writes while the disk of the tables is full, then continues', {
  skip: NO_POSTGRES,
}, async (t) => {
  const disk = mountSmallDisk(t, '40m');
  if (disk === undefined) return;
  const server = await startPostgres();
  t.after(() => server.end());
  const { uid, gid } = findServerUser();
  const folder = join(disk, 'tables');
  mkdirSync(folder);
  for (const path of [disk, folder]) chownSync(path, uid, gid);
  const database = await server.createDatabase();
  const administrator = await server.openAdministrator();
  for (const text of [
    `CREATE TABLESPACE small LOCATION '${folder}'`,
    `ALTER DATABASE ${database} SET TABLESPACE small`,
  ]) await administrator.run([{ text, values: [], isUnnamed: true }]);
  await administrator.close();
  const load = await Load.open(t, server.connectOptions(database));
  load.start();
  for (const _ of countTo(3)) {
    await load.acknowledge(5);
    fillDisk(disk);
    load.counts.codes.clear();
    await eventually(() => assert.ok(load.counts.codes.has('storage_full')));
    freeDisk(disk);
    await load.acknowledge(5);
  }
  await load.check();
  t.diagnostic(`full 3 times: ${load.describe()}`);
});
