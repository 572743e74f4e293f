/** Concurrent reads of what a key grants share one statement, and none is older than its call. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { openPostgresStore } from '../../../../src/store/postgres/store.ts';
import { makeClock } from '../../../support/clock.ts';
import { NO_POSTGRES, POSTGRES_FOLDER } from '../../../support/postgres/install.ts';
import { TEST_KEY } from '../../../support/postgres/server.ts';
import { borrowDatabase, sharePostgres } from '../../../support/postgres/shared-server.ts';
import { makeActor, makeNewKey, makeSecret } from '../../contract/fixture.ts';

test('shows a commit that precedes the call, even if an earlier read was just sent', {
  skip: NO_POSTGRES,
}, async (t) => {
  const { folder, port } = await sharePostgres();
  const options = await borrowDatabase(t);
  const store = await openPostgresStore({ connect: options, key: TEST_KEY, clock: makeClock() });
  t.after(() => store.close());
  const [{ sellerId }, secret] = [await makeActor(store), makeSecret()];
  const { hash } = secret;
  await store.createKey(sellerId, secret, makeNewKey());
  assert.equal((await store.findGrant(hash))?.position, 0);
  const [client, other] = await connectPair(t);

  // All connections for reads have sent something.
  const others = Array.from({ length: 8 }, (_, n) => store.findGrant(`unknown ${n}`));
  await setImmediate();
  // One iteration of the event loop: a timer reads, then a connection receives its answers and
  // sends that read, and then `other` receives a byte, while the server executes the read.
  const earlier = setTimeout(1).then(() => store.findGrant(hash));
  pause();
  client.write('x');
  await once(other, 'data');
  pause();
  execFileSync(join(POSTGRES_FOLDER ?? '', 'psql'), [
    '--host', folder, '--port', String(port), '--username', 'postgres', '--quiet', '--no-psqlrc',
    '--dbname', options.database, '--command', 'UPDATE seller SET position = 1',
  ]);
  assert.equal((await store.findGrant(hash))?.position, 1);
  assert.equal((await earlier)?.position, 0, 'it was sent');
  assert.deepEqual(new Set(await Promise.all(others)), new Set([undefined]));
});

async function connectPair(t: TestContext): Promise<readonly [Socket, Socket]> {
  const server = createServer().listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port); // it listens on a port
  t.after(() => client.destroy());
  const [other] = await once(server, 'connection');
  return [client, other];
}

/** Blocks the event loop for 100 ms, in which the server answers. */
function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
}
