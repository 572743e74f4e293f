/** Bulk copies in both directions, with slow partners, errors and early ends. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { openConnection } from '../../../../src/store/postgres/connect/open-connection.ts';
import type { Connection } from '../../../../src/store/postgres/wire/connection.ts';
import { copyIn, copyOut } from '../../../../src/store/postgres/wire/copy.ts';
import { NO_POSTGRES } from '../../../support/postgres/install.ts';
import { sharePostgres } from '../../../support/postgres/shared-server.ts';

const IN = 'COPY item FROM STDIN';
const OUT = 'COPY (SELECT * FROM item ORDER BY id) TO STDOUT';
const MANY = `COPY (SELECT repeat('x', 1000) FROM generate_series(1, 100000)) TO STDOUT`;

describe('a copy', { skip: NO_POSTGRES }, () => {
  let connection: Connection;

  before(async () => {
    const server = await sharePostgres();
    connection = await openConnection(server.connectOptions(await server.createDatabase()));
    await run('CREATE TABLE item (id int, name text)');
  });
  // A failed test may leave a copy.
  after(() => connection.destroy(new Error('the tests are over')));

  async function run(text: string) {
    return (await connection.run([{ text, values: [] }]))[0]?.rows;
  }

  async function readAll(text: string): Promise<string> {
    return Buffer.concat(await copyOut(connection, text).toArray()).toString('utf8');
  }

  function* lines(count: number): Generator<Buffer> {
    for (let id = 1; id <= count; id += 1) yield Buffer.from(`${id}\tname ${id}\n`);
  }

  test('in and out returns what was copied', async () => {
    assert.equal(await copyIn(connection, IN, lines(5_000)), 5_000);
    assert.equal(await readAll(OUT), Buffer.concat([...lines(5_000)]).toString('utf8'));
    assert.equal(await copyIn(connection, IN, []), 0);
    await run('DELETE FROM item');
    assert.equal(await readAll(OUT), '');
  });

  test('in binary format returns, with chunks cut anywhere', async () => {
    await copyIn(connection, IN, lines(100));
    const binary = `COPY item TO STDOUT (FORMAT binary)`;
    const bytes = Buffer.concat(await copyOut(connection, binary).toArray());
    await run('DELETE FROM item');
    const chunks = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, index) =>
      bytes.subarray(index * 7, index * 7 + 7));
    assert.equal(await copyIn(connection, `${IN} (FORMAT binary)`, chunks), 100);
    await run('DELETE FROM item');
  });

  test('writes nothing if a row is rejected, or if the source fails', async () => {
    const bad = [...lines(10), Buffer.from('x\ty\n')];
    await assert.rejects(copyIn(connection, IN, bad), { sqlstate: '22P02' });
    await assert.rejects(copyIn(connection, IN, async function* () {
      yield* bad;
      for (;;) {
        await nextIteration();
        yield Buffer.from('1\tx\n'); // until the server rejects the copy
      }
    }()), { sqlstate: '22P02' });
    await assert.rejects(copyIn(connection, IN, async function* () {
      yield* lines(10);
      throw new RangeError('the file ended');
    }()), /RangeError: the file ended/);
    await assert.rejects(copyIn(connection, 'COPY missing FROM STDIN', []), { sqlstate: '42P01' });
    await assert.rejects(readAll('COPY missing TO STDOUT'), { sqlstate: '42P01' });
    assert.deepEqual(await run('SELECT count(*) AS n FROM item'), [{ n: 0 }]);
  });

  test('waits for a slow reader', async () => {
    const stream = copyOut(connection, MANY);
    const iterator = stream.iterator({ destroyOnReturn: false });
    const first = await iterator.next();
    const { socket } = connection.session;
    while (!socket.isPaused()) await nextIteration();
    const { bytesRead } = socket;
    for (let count = 0; count < 50; count += 1) await nextIteration();
    assert.ok(socket.bytesRead - bytesRead < 1_000_000, String(socket.bytesRead - bytesRead));
    assert.ok(stream.readableLength < 1_000_000, String(stream.readableLength));
    let length = first.value.length;
    for await (const chunk of stream) length += chunk.length;
    assert.equal(length, 100_000 * 1_001);
  });

  test('waits for a slow server', async () => {
    let ahead = 0;
    const { socket } = connection.session;
    const chunk = Buffer.from('1\tx\n'.repeat(20_000));
    await copyIn(connection, IN, function* () {
      for (let count = 0; count < 30; count += 1) {
        ahead = Math.max(ahead, socket.writableLength);
        yield chunk;
      }
    }());
    assert.ok(ahead <= chunk.length + 100, String(ahead));
    await run('DELETE FROM item');
  });

  test('ends when its reader leaves, and the connection remains usable', async () => {
    for await (const chunk of copyOut(connection, MANY)) {
      assert.ok(chunk.length > 0);
      break;
    }
    assert.deepEqual(await run('SELECT 1 AS a'), [{ a: 1 }]);
  });
});
