/** Connections cut during COMMIT, deadlocks and serialization failures, under a load of writes. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { countTo } from '../../store/contract/fixture.ts';
import { NO_POSTGRES } from '../../support/postgres/install.ts';
import { startPostgres } from '../../support/postgres/server.ts';
import { CommitCutter } from './commit-cutter.ts';
import { Load } from './load.ts';

const CUTS = 60;
const ROUNDS = 20;
/** The answer to a COMMIT of several statements has about as many bytes. */
const ANSWER_BYTES = 200;

test('neither loses nor repeats a write when connections are cut during COMMIT', {
  skip: NO_POSTGRES,
}, async (t) => {
  const server = await startPostgres();
  t.after(() => server.end());
  const options = server.connectOptions(await server.createDatabase());
  const { cutter, port } = await CommitCutter.open(t, server.port);
  const servers = options.servers.map((one) => ({ ...one, port }));
  const load = await Load.open(t, options, { ...options, servers });
  const made = { before: 0, late: 0, after: 0 };
  for (const n of countTo(CUTS)) {
    if (n % 10 === 1) load.start();
    const { below } = load.random;
    const kind = load.random.pick(['before', 'late', 'after', 'after'] as const);
    await cutter.cut(kind === 'after' ? { after: below(ANSWER_BYTES) } : kind);
    made[kind] += 1;
    await load.acknowledge(2);
    if (n % 10 === 0) await load.check();
  }
  t.diagnostic(`${CUTS} cuts (${JSON.stringify(made)}): ${load.describe()}`);
});

test('retries transactions after deadlocks and serialization failures', {
  skip: NO_POSTGRES,
}, async (t) => {
  const settings = { deadlock_timeout: '30ms', log_line_prefix: '%a ' };
  const server = await startPostgres({ settings });
  t.after(() => server.end());
  const database = await server.createDatabase();
  const load = await Load.open(t, server.connectOptions(database));
  await load.query(`
    CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF random() < 0.01 THEN RAISE EXCEPTION 'by chance' USING ERRCODE = '40001'; END IF;
      RETURN NEW;
    END $$`);
  await load.query(`
    CREATE TRIGGER fail BEFORE INSERT ON change FOR EACH ROW EXECUTE FUNCTION fail()`);
  load.start();
  const other = await server.openAdministrator(database);
  t.after(() => other.close());
  const run = (text: string) => other.run([{ text, values: [], isUnnamed: true }]);
  await run(`SET deadlock_timeout = '200ms'`); // mostly, the store is the one that notices
  await run(`SET application_name = 'other'`);
  const count = (what: string): number =>
    readFileSync(join(server.folder, 'log'), 'utf8').split(`\ntest ERROR:  ${what}`).length - 1;
  for (const _ of countTo(ROUNDS)) {
    await load.acknowledge(2);
    await run('BEGIN');
    try {
      await run('SELECT FROM product ORDER BY position DESC LIMIT 30 FOR UPDATE');
      await run('SELECT FROM seller ORDER BY id FOR UPDATE');
    } catch (error) {
      assert.match(String(error), /deadlock detected/);
    }
    await run('ROLLBACK');
  }
  await load.acknowledge(5);
  await load.check();
  assert.ok(count('deadlock detected') > 0);
  assert.ok(count('by chance') > 0);
  t.diagnostic(`${count('deadlock detected')} deadlocks, ${count('by chance')} serialization `
    + `failures: ${load.describe()}`);
});
