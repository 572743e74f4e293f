/**
 * A node that stops at the worst moment: `read` has a seller locked while the server sends it what
 * does not fit into the buffers of a socket; `write` has one locked by a transaction whose rest it
 * has not sent yet; `stocktake` reads all products of a seller.
 */
import { setImmediate as nextIteration } from 'node:timers/promises';
import { openConnection } from '../../../src/store/postgres/connect/open-connection.ts';
import { openPostgresStore } from '../../../src/store/postgres/store.ts';
import { Connection } from '../../../src/store/postgres/wire/connection.ts';
import type { SellerId } from '../../../src/domain/id.ts';
import { PASSWORD, TEST_KEY } from '../../support/postgres/server.ts';

const { way, options } = JSON.parse(process.argv[2] ?? '');
const connect = { ...options, findPassword: async () => PASSWORD };

/** Stops as soon as it has sent what one write gives to the kernel. */
async function stop(): Promise<void> {
  for (let iterations = 0; iterations < 3; iterations += 1) await nextIteration();
  process.kill(process.pid, 'SIGSTOP');
}

if (way === 'stocktake') {
  const store = await openPostgresStore({ connect, key: TEST_KEY });
  const { run } = Connection.prototype;
  Connection.prototype.run = function stopAfter(this: Connection, ...args) {
    const answer = run.apply(this, args);
    if (args[0].some(({ text }) => text.includes('stock > 0'))) void stop();
    return answer;
  };
  const changes = [{ sku: 'S-1', set: 1 }];
  const completion = { zeroLimitPercent: 100 };
  const actor = { sellerId: 1 as SellerId, keyId: 9 as never }; // the parent inserted the seller
  const sync = { changes, completion, isAtomic: false, source: undefined, reason: undefined };
  await store.syncStock(actor, sync as never, false);
} else {
  const connection = await openConnection(connect);
  const lock = {
    text: 'UPDATE seller SET position = position + 1 WHERE id = $1', values: [1],
  };
  const send = (text: string, value: string) => ({ text, values: [value] });
  const rest = way === 'read' ? send('SELECT repeat($1::text, 16000000) AS text', 'x')
    : send('SELECT length($1::text) AS n', 'x'.repeat(16_000_000));
  const run = connection.run([lock, rest], { isTransaction: true });
  await Promise.all([run, stop()]);
}
