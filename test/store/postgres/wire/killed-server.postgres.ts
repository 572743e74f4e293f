/** A server that is killed: connections are lost, pools recover once it is back, copies fail. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setImmediate as nextIteration, setTimeout as sleep } from 'node:timers/promises';
import {
  type ConnectOptions, openConnection,
} from '../../../../src/store/postgres/connect/open-connection.ts';
import { copyIn, copyOut } from '../../../../src/store/postgres/wire/copy.ts';
import { ConnectionLostError } from '../../../../src/store/postgres/wire/errors.ts';
import { Pool } from '../../../../src/store/postgres/wire/pool.ts';
import type { Statement } from '../../../../src/store/postgres/wire/statement-run.ts';
import { NO_POSTGRES } from '../../../support/postgres/install.ts';
import { type PostgresServer, startPostgres } from '../../../support/postgres/server.ts';

const ONE: Statement = { text: 'SELECT 1 AS one', values: [] };
const SLEEP: Statement = { text: 'SELECT pg_sleep(60)', values: [] };
const CREATE: Statement = { text: 'CREATE TABLE item (id int, name text)', values: [] };
const MANY = `COPY (SELECT repeat('x', 1000) FROM generate_series(1, 100000)) TO STDOUT`;

describe('when the server is killed', { skip: NO_POSTGRES }, () => {
  let server: PostgresServer;
  let options: ConnectOptions;
  before(async () => {
    server = await startPostgres({ isFast: true });
    options = server.connectOptions(await server.createDatabase());
  });
  after(() => server.end());

  test('a connection is lost, with its answers; a new one works', async () => {
    const busy = await openConnection(options);
    const settled = Promise.allSettled([busy.run([SLEEP]), busy.run([SLEEP])]);
    await nextIteration(); // sends them
    await server.kill();
    for (const outcome of await settled) {
      assert.ok(outcome.status === 'rejected' && outcome.reason instanceof ConnectionLostError);
    }
    await assert.rejects(openConnection(options), /port \d+ failed: connect ECONNREFUSED/);
    await server.start();
    const connection = await openConnection(options);
    assert.equal((await connection.run([ONE]))[0]?.count, 1);
    await connection.close();
  });

  test('a pool recovers once it is back', async () => {
    const pool = new Pool({ max: 3, open: () => openConnection(options) });
    await pool.run([ONE]);
    const busy = Promise.allSettled([
      pool.run([SLEEP]), pool.use((connection) => connection.run([SLEEP])),
    ]);
    while (pool.readMetrics().busy < 2) await sleep(5);
    await server.kill();
    for (const outcome of await busy) {
      assert.ok(outcome.status === 'rejected' && outcome.reason instanceof ConnectionLostError);
    }
    await assert.rejects(pool.run([ONE]), ConnectionLostError);
    const started = server.start();
    while (await pool.run([ONE]).then(() => false, () => true)) await sleep(5);
    await started;
    await pool.close();
    assert.equal(pool.readMetrics().open, 0);
  });

  test('a copy fails', async () => {
    const reader = await openConnection(options);
    const reading = (async () => {
      for await (const chunk of copyOut(reader, MANY)) {
        if (chunk.length > 0) await server.kill();
      }
    })();
    await assert.rejects(reading, ConnectionLostError);
    await server.start();
    const writer = await openConnection(options);
    await writer.run([CREATE]);
    const copying = copyIn(writer, 'COPY item FROM STDIN', async function* () {
      for (const id of [1, 2, 3]) {
        yield Buffer.from(`${id}\tname ${id}\n`);
        await server.kill().catch(() => {}); // only once
      }
    }());
    await assert.rejects(copying, ConnectionLostError);
  });
});
