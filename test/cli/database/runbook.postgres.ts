/** The runbook for a database server: each fault is caused, looks as it says, and ends by it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync, cpSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { makeFolder } from '../../support/folder.ts';
import { findServerUser, NO_POSTGRES, POSTGRES_FOLDER } from '../../support/postgres/install.ts';
import { findFreePort } from '../../support/listening.ts';
import { startPostgres } from '../../support/postgres/server.ts';
import { type SharedServer, sharePostgres } from '../../support/postgres/shared-server.ts';
import { eventually } from '../../store/contract/fixture.ts';
import {
  assertSeen, createProduct, executeScript, findBlock, findProduct, makeServiceFolder, startService,
} from '../serve/runbook-service.ts';
import { type CommandDatabase, makeDatabase } from './setup.ts';

const ROOT = new URL('../../..', import.meta.url).pathname;
const PATH = `${POSTGRES_FOLDER}:${process.env['PATH']}`;

/** A database with a seller and its key. */
async function prepareShop(t: TestContext, server: SharedServer) {
  const database = await makeDatabase(server, makeFolder(t));
  await database.succeed('migrate');
  await database.succeed('seller', 'create', 'A shop');
  const { key } = JSON.parse(await database.succeed('key', 'create', '--name', 'test', '--json'));
  return { database, key: key as string };
}

function startNode(
  t: TestContext, { url, keyFile, environment }: CommandDatabase,
  options: Partial<Parameters<typeof startService>[0]> = {},
) {
  return startService({
    folder: makeServiceFolder(t), flags: [], ...options,
    environment: {
      ...environment, PATH, SELLER_API_DATABASE: url, SELLER_API_SERVER_KEY_FILE: keyFile,
    },
  });
}

/** A network between nodes and a server that can lose everything that is sent. */
async function openNetwork(t: TestContext, serverPort: number) {
  let isCut = false;
  const sockets = new Set<Socket>();
  const relay = createServer((client) => {
    const upstream = connect(serverPort, '127.0.0.1');
    for (const [from, to] of [[client, upstream], [upstream, client]] as const) {
      sockets.add(from);
      if (isCut) from.pause();
      from.on('data', (chunk) => to.write(chunk));
      from.on('error', () => {});
      from.on('close', () => to.destroy());
    }
  }).listen(0, '127.0.0.1');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    relay.close();
  });
  await once(relay, 'listening');
  return {
    port: (relay.address() as AddressInfo).port, // a server that listens on a port has one
    cut(): void {
      isCut = true;
      for (const socket of sockets) socket.pause();
    },
    heal(): void {
      isCut = false;
      for (const socket of sockets) socket.resume();
    },
  };
}

describe('the runbook, for nodes', { skip: NO_POSTGRES, concurrency: 3 }, () => {
  test('a node that is paused in a transaction', async (t) => {
    const server = await sharePostgres();
    const { database, key } = await prepareShop(t, server);
    const flags = ['--webhook-allow-private', '--webhook-allow-http'];
    // Without the time limits of its sessions, only the steps can end its transaction.
    const unlimited = { ...database, url: `${database.url}?pool_mode=transaction` };
    const [paused, other] = await Promise.all([
      startNode(t, unlimited, { flags }), startNode(t, database),
    ]);
    const webhook = { url: 'http://127.0.0.1:9/' };
    const createWebhook = () => paused.call(key, 'POST', 'webhooks', webhook);
    const locker = await server.openAdministrator(database.url.split('/').at(-1));
    const lock = (text: string) => locker.run([{ text, values: [], isUnnamed: true }]);
    await lock('BEGIN');
    await lock('LOCK TABLE webhook IN EXCLUSIVE MODE');
    const interrupted = createWebhook();
    await eventually(async () => assert.equal((await database.query(`
      SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'
        AND wait_event = 'relation'`)).length, 1));
    process.kill(paused.pid(), 'SIGSTOP');
    await locker.close();
    const write = await createProduct(other, key, 'S-1');
    assert.equal(write.status, 503);
    const steps = await other.runSteps('paused-node', { NODE: paused.url });
    assertSeen('paused-node', write.text, steps);
    assert.match(steps, /\| t\n\(1 row\)/);
    assert.equal((await createProduct(other, key, 'S-1')).status, 201);
    await paused.runSteps('resume');
    assert.equal((await interrupted).status, 503);
    assert.equal((await createWebhook()).status, 201);
    assert.equal(await findProduct(paused, key, 'S-1'), 200);
  });

  test('a node that the network separates from the server', async (t) => {
    const server = await sharePostgres();
    const { database, key } = await prepareShop(t, server);
    const network = await openNetwork(t, server.port);
    const url = database.url.replace(`:${server.port}`, `:${network.port}`);
    const [separated, other] = await Promise.all([
      startNode(t, { ...database, url }), startNode(t, database),
    ]);
    assert.equal((await createProduct(separated, key, 'S-1')).status, 201);
    network.cut();
    const retry = { 'idempotency-key': 'a' };
    const inFlight = createProduct(separated, key, 'S-2', retry);
    let seen = '';
    await eventually(async () => {
      const ready = await separated.ready();
      assert.equal(ready.status, 503);
      seen = ready.text;
    });
    const steps = await separated.runSteps('partition', { OTHER: other.url });
    assertSeen('partition', seen, steps);
    assert.equal((await createProduct(other, key, 'S-3')).status, 201);
    network.heal();
    await separated.runSteps('reconnected');
    await inFlight;
    assert.equal((await createProduct(separated, key, 'S-2', retry)).status, 201);
    for (const node of [separated, other]) {
      const { changes } = (await node.call(key, 'GET', 'changes?after=0')).json();
      assert.equal(changes.length, 3);
    }
  });

  test('a node that missed an upgrade', async (t) => {
    const { database, key } = await prepareShop(t, await sharePostgres());
    const next = makeNextRelease(t);
    const start = async () => {
      const folder = makeServiceFolder(t);
      const install = (release: string): void => {
        symlinkSync(release, join(folder, 'new'));
        renameSync(join(folder, 'new'), join(folder, 'release'));
      };
      install(ROOT);
      const command = [process.execPath, join(folder, 'release', 'src', 'main.ts')];
      return { ...await startNode(t, database, { folder, command }), install };
    };
    const [paused, other] = await Promise.all([start(), start()]);
    other.install(next);
    const early = await other.execute('seller-api migrate || true');
    process.kill(paused.pid(), 'SIGSTOP');
    await other.runSteps('stop-release');
    await database.query('UPDATE node SET expires_at = 0'); // as 10 s later
    await other.runSteps('start-release');
    assert.equal((await createProduct(other, key, 'S-1')).status, 201);

    process.kill(paused.pid(), 'SIGCONT');
    let seen = '';
    await eventually(async () => {
      seen = (await paused.ready()).text;
      assert.match(seen, /wrong schema/);
    });
    assert.equal((await createProduct(paused, key, 'S-2')).status, 503);
    await paused.execute('systemctl restart seller-api || true');
    assertSeen('wrong-schema', seen, paused.log(), early);
    await paused.runSteps('stop-release');
    paused.install(next);
    await paused.runSteps('start-release');
    assert.equal((await createProduct(paused, key, 'S-2')).status, 201);
    assert.equal(await findProduct(paused, key, 'S-1'), 200);
  });
});

describe('the runbook, for servers', { skip: NO_POSTGRES }, () => {
  test('a primary that is lost, and its synchronous standby', async (t) => {
    const primary = await startPostgres();
    t.after(() => primary.end());
    const { database, key } = await prepareShop(t, primary);
    await primary.administrate(`ALTER SYSTEM SET synchronous_standby_names = '*'`,
      'SELECT pg_reload_conf()');
    const standby = await startPostgres({ standbyOf: primary });
    t.after(() => standby.end());
    await eventually(async () => assert.deepEqual(
      await primary.administrate('SELECT sync_state FROM pg_stat_replication'),
      [{ sync_state: 'sync' }]));
    const both = `:${primary.port},127.0.0.1:${standby.port}`;
    const url = `${database.url.replace(`:${primary.port}`, both)}?target_session_attrs=read-write`;
    const node = await startNode(t, { ...database, url });
    assert.equal((await createProduct(node, key, 'S-1')).status, 201);
    await primary.kill();
    const write = await createProduct(node, key, 'S-2');
    assert.equal(write.status, 503);
    let seen = '';
    await eventually(async () => {
      const ready = await node.ready();
      assert.equal(ready.status, 503);
      seen = ready.text;
    });
    assertSeen('failover', write.text, seen);
    await node.runSteps('fence');
    const steps = await node.runSteps('promote', {
      STANDBY: `host=${standby.folder} port=${standby.port} user=postgres dbname=postgres`,
    });
    assert.match(steps, /No problems found/);
    assert.equal((await createProduct(node, key, 'S-2')).status, 201);
    assert.equal(await findProduct(node, key, 'S-1'), 200);
    assert.match(await node.runSteps('slow-database'), /wait_event[^]*No problems found/);
  });

  test('a mistake, and point-in-time recovery', async (t) => {
    const archived = await startArchived(t);
    const { server } = archived;
    const { database, key } = await prepareShop(t, server);
    archived.backUp();
    const node = await startNode(t, database);
    const first = await createProduct(node, key, 'S-1');
    assert.equal(first.status, 201);
    assert.equal((await createProduct(node, key, 'S-2')).status, 201);
    await node.runSteps('stop-nodes'); // so that it is no node of the time that is restored
    const [row] = await server.administrate('SELECT clock_timestamp()::text AS time');
    await node.execute('systemctl start seller-api');
    assert.equal((await createProduct(node, key, 'S-3')).status, 201);
    await archived.archive();

    await node.runSteps('stop-nodes');
    await server.kill();
    const port = await findFreePort();
    await executeScript(findBlock('steps', 'recover'), {
      ...archived.environment, PGPORT: String(port), TIME: String(row?.['time']),
    }, findServerUser());
    const url = database.url.replace(`:${server.port}`, `:${port}`);
    assertSeen('after-restore', await node.runSteps('after-restore', { SELLER_API_DATABASE: url }));
    assert.deepEqual(await Promise.all(['S-1', 'S-2', 'S-3'].map((sku) =>
      findProduct(node, key, sku))), [200, 200, 404]);
    assert.equal((await node.call(key, 'GET', 'changes?after=2')).status, 410);
    const product = `products/${first.json().id}`;
    const stale = { 'if-match': String(first.headers.etag) };
    assert.equal((await node.call(key, 'PATCH', product, { stock: 2 }, stale)).status, 412);
    assert.equal((await createProduct(node, key, 'S-4')).status, 201);
  });
});

/** A server that archives its write-ahead log, and where the commands of the runbook find it. */
async function startArchived(t: TestContext) {
  const user = findServerUser();
  const runProgram = (name: string, ...args: string[]): void => {
    spawnSync(join(POSTGRES_FOLDER ?? '', name), args, { ...user, cwd: '/' });
  };
  // Before the folder: cleanups run in the order in which they are registered.
  t.after(() => runProgram('pg_ctl', 'stop', '--mode=immediate', '--pgdata', environment.PGDATA));
  const folder = makeFolder(t);
  const [archive, backup] = [join(folder, 'archive'), join(folder, 'backup')];
  mkdirSync(archive);
  for (const path of [folder, archive]) chownSync(path, user.uid, user.gid);
  const environment = {
    PATH, PGDATA: join(folder, 'data'), PGHOST: folder, PGUSER: 'postgres',
    BASE_BACKUP: backup, ARCHIVE: archive,
  };
  const server = await startPostgres({
    settings: {
      archive_mode: 'on', archive_command: `cp "%p" "${archive}/%f"`, synchronous_standby_names: '',
    },
  });
  t.after(() => server.end());
  // The settings of the recovered server, which the flags of this one override.
  await server.administrate(`ALTER SYSTEM SET unix_socket_directories = '${folder}'`,
    `ALTER SYSTEM SET hba_file = '${join(server.folder, 'hba.conf')}'`,
    `ALTER SYSTEM SET synchronous_standby_names = '*'`);
  return {
    server, environment,
    backUp: () => runProgram('pg_basebackup', '--format=tar', '--checkpoint=fast', '--no-sync',
      '--pgdata', backup, '--host', server.folder, '--port', String(server.port),
      '--username', 'postgres'),
    /** Resolves once everything up to now is in the archive. */
    async archive(): Promise<void> {
      const [row] = await server.administrate('SELECT pg_walfile_name(pg_switch_wal()) AS name');
      await eventually(async () => assert.equal((await server.administrate(`
        SELECT FROM pg_stat_archiver WHERE last_archived_wal >= '${row?.['name']}'`)).length, 1));
    },
  };
}

/** The folder of a copy of this release whose schema has one more version. */
function makeNextRelease(t: TestContext): string {
  const folder = makeFolder(t);
  cpSync(join(ROOT, 'src'), join(folder, 'src'), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
  const schema = join(folder, 'src', 'store', 'postgres', 'schema');
  writeFileSync(join(schema, 'migration-next.sql'), 'CREATE TABLE next_release (id int);\n');
  const text = readFileSync(join(schema, 'migrate.ts'), 'utf8');
  const changed = text.replace(/(const MIGRATIONS = \[[^;]*\)),?\s*\];/,
    `$1, readAsset(new URL('migration-next.sql', import.meta.url))];`);
  assert.notEqual(changed, text);
  writeFileSync(join(schema, 'migrate.ts'), changed);
  return folder;
}
