/** Whatever a server sends, callers get a result or an error, and the process keeps running. */
import assert from 'node:assert/strict';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { test } from 'node:test';
import { openConnection } from '../../../../src/store/postgres/connect/open-connection.ts';
import {
  ConnectionLostError, PostgresError,
} from '../../../../src/store/postgres/wire/errors.ts';
import {
  ANSWER, connectToFake, description, field, int16, int32, message, READY, SETTINGS, startFake,
  WELCOME,
} from './fake-server.ts';

const SELECT = { text: 'SELECT 1', values: [] };
const findPassword = async (): Promise<string> => 'geheim';
const PREPARED = ANSWER.subarray(0, ANSWER.indexOf(READY) + READY.length);

test('reads answers that are split at any byte', async (t) => {
  for (let cut = 1; cut < ANSWER.length; cut += 1) {
    const connection = await connectToFake(t, async (socket) => {
      socket.setNoDelay(true).write(ANSWER.subarray(0, cut));
      await nextIteration();
      socket.write(ANSWER.subarray(cut));
    });
    const [result] = await connection.run([SELECT]);
    assert.deepEqual(result, { rows: [{ one: 1 }], count: 1 }, `cut at ${cut}`);
    connection.destroy(new Error('done'));
  }
});

test('reads a start and answers that arrive byte by byte', async (t) => {
  const writeSlowly = async (socket: import('node:net').Socket, bytes: Buffer): Promise<void> => {
    for (const byte of bytes) {
      socket.setNoDelay(true).write(Buffer.of(byte));
      await nextIteration();
    }
  };
  const options = await startFake(t, (socket, _chunk, at) =>
    void writeSlowly(socket, [WELCOME, SETTINGS, ANSWER][at] ?? Buffer.alloc(0)));
  const connection = await openConnection(options);
  assert.deepEqual((await connection.run([SELECT]))[0]?.rows, [{ one: 1 }]);
  connection.destroy(new Error('done'));
});

const ROW = message('D', int16(1), field('1'));
const BAD_ANSWERS: readonly (readonly [title: string, answer: Buffer])[] = [
  ['a message of an unknown type', message('?')],
  ['a length below 4', Buffer.from('D\0\0\0\x03')],
  ['a length above the limit', Buffer.from('D\x7f\xff\xff\xff')],
  ['a negative length', Buffer.from('D\xff\xff\xff\xff', 'latin1')],
  ['ReadyForQuery before the answer', READY],
  ['ReadyForQuery of an unknown state', message('Z', '?')],
  ['ReadyForQuery without a state', message('Z')],
  ['a row before BindComplete', Buffer.concat([PREPARED, ROW])],
  ['a row too many', Buffer.concat([ANSWER.subarray(0, -READY.length), ROW])],
  ['a row with too many columns',
    Buffer.concat([PREPARED, message('2'), message('D', int16(2), field('1'), field('1'))])],
  ['a row with a field that is longer than the row',
    Buffer.concat([PREPARED, message('2'), message('D', int16(1), int32(9), '1')])],
  ['a row with a negative field',
    Buffer.concat([PREPARED, message('2'), message('D', int16(1), int32(-2))])],
  ['an empty row', Buffer.concat([PREPARED, message('2'), message('D')])],
  ['a description that ends early',
    Buffer.concat([message('1'), message('t'), message('T', int16(3), 'a\0')])],
  ['an empty description', Buffer.concat([message('1'), message('t'), message('T')])],
  ['a description of binary columns', Buffer.concat([message('1'), message('t'),
    Buffer.from(description({ one: 23 }).with(-1, 1))])],
  ['a second BindComplete', Buffer.concat([PREPARED, message('2'), message('2')])],
  ['CopyInResponse', Buffer.concat([PREPARED, message('2'), message('G', int16(0))])],
  ['an answer too many', Buffer.concat([ANSWER, message('C', 'SELECT 1\0')])],
];

for (const [title, answer] of BAD_ANSWERS) {
  test(`closes the connection after ${title}`, async (t) => {
    const connection = await connectToFake(t, (socket) => socket.write(answer));
    const runs = [SELECT, SELECT].map((statement) => connection.run([statement]));
    const last = await Promise.allSettled(runs).then(([, second]) => second);
    assert.ok(last?.status === 'rejected' && last.reason instanceof ConnectionLostError);
    assert.equal(last.reason.isOutcomeUnknown, true);
    assert.match(last.reason.message,
      /^connection to server at "127.0.0.1", port \d+ was lost: .*(?:from the server|bytes)/);
    assert.equal(connection.isOpen, false);
    await assert.rejects(connection.run([SELECT]), { isOutcomeUnknown: false });
  });
}

test('survives random bytes in place of any part of an answer', async (t) => {
  let seed = 1;
  const random = (): number => {
    seed = (seed * 48_271) % 2_147_483_647; // Lehmer: repeatable
    return seed;
  };
  for (let round = 0; round < 300; round += 1) {
    const bytes = Buffer.from(ANSWER);
    for (let count = random() % 3; count >= 0; count -= 1) {
      bytes[random() % bytes.length] = random() % 256;
    }
    const connection = await connectToFake(t, (socket) => socket.end(bytes));
    await connection.run([SELECT]).catch((error: unknown) => {
      assert.ok(error instanceof ConnectionLostError || error instanceof PostgresError
        || error instanceof TypeError, String(error));
    });
    await connection.close();
  }
});

test('closes the connection after an unsolicited error', async (t) => {
  const connection = await connectToFake(t, () => {});
  const closed = Promise.withResolvers<void>();
  connection.onChange = () => closed.resolve();
  connection.session.socket.emit('data', message('E', 'SFATAL\0VFATAL\0C57P01\0Mbye\0\0'));
  await closed.promise;
  await assert.rejects(connection.run([SELECT]), ConnectionLostError);
});

test('rejects a server that does not answer, and one that stops answering', async (t) => {
  const silent = await startFake(t, () => {});
  await assert.rejects(openConnection({ ...silent, connectTimeoutMs: 30 }),
    /^ConnectionLostError: connection to server at "127.0.0.1", port \d+ failed: timeout expired$/);
  const connection = await connectToFake(t, (socket) => socket.write(PREPARED));
  const error = await connection.run([SELECT], { timeoutMs: 30 }).catch((reason) => reason);
  assert.ok(error instanceof ConnectionLostError && error.isOutcomeUnknown);
  assert.match(error.message, /was lost: no answer from the server within 30 ms/);
});

test('cancels a late statement only where no other one is in flight', async (t) => {
  for (const others of [0, 1]) {
    const connection = await connectToFake(t, () => {});
    let cancels = 0;
    connection.cancel = async () => { cancels += 1; };
    const runs = [30, ...Array<number>(others).fill(10_000)].map((timeoutMs) =>
      connection.run([SELECT], { timeoutMs }));
    for (const { status } of await Promise.allSettled(runs)) assert.equal(status, 'rejected');
    assert.equal(cancels, 1 - others);
  }
});

test('rejects an invalid startup response', async (t) => {
  const starts = [
    ['a row', message('D', int16(0))], ['an end', Buffer.alloc(0)],
    ['unknown authentication', message('R', int32(7))],
    ['authentication without a code', message('R')],
    ['more after ReadyForQuery', Buffer.concat([WELCOME, READY])],
    ['HTTP', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ] as const;
  for (const [title, bytes] of starts) {
    const options = await startFake(t, (socket) => socket.end(bytes));
    await assert.rejects(openConnection(options), ConnectionLostError, title);
  }
});

test('never sends the password itself', async (t) => {
  for (const request of [message('R', int32(3)), message('R', int32(5), 'salt')]) {
    let received = '';
    const options = await startFake(t, (socket, chunk) => {
      received += chunk.toString('latin1');
      socket.write(request);
    });
    await assert.rejects(openConnection({ ...options, findPassword }),
      /this client only has SCRAM-SHA-256/);
    assert.doesNotMatch(received, /geheim|md5/);
  }
});

test('accepts no end of SCRAM without the server signature', async (t) => {
  const options = await startFake(t, (socket, _chunk, at) => {
    socket.write(at === 0 ? message('R', int32(10), 'SCRAM-SHA-256\0\0') : WELCOME);
  });
  await assert.rejects(openConnection({ ...options, findPassword }), /unexpected message "R"/);
});

test('accepts no server that proves nothing where a password is configured', async (t) => {
  const answers: readonly Buffer[] = [WELCOME, SETTINGS];
  const options = await startFake(t, (socket, _chunk, at) => socket.write(answers[at] ?? ''));
  await assert.rejects(openConnection({ ...options, findPassword }),
    /did not prove that it knows the password.*scram-sha-256.*sslmode=verify-full/);
  const connection = await openConnection(options);
  connection.destroy(new Error('done'));
});

test('accepts a wrong server signature from no server', async (t) => {
  const options = await startFake(t, (socket, chunk, at) => {
    if (at === 0) socket.write(message('R', int32(10), 'SCRAM-SHA-256\0\0'));
    else if (at === 1) {
      const nonce = /r=(.*)/.exec(chunk.toString())?.[1] ?? '';
      socket.write(message('R', int32(11), `r=${nonce}server,s=c2FsdA==,i=4096`));
    } else {
      socket.write(Buffer.concat([
        message('R', int32(12), `v=${Buffer.alloc(32).toString('base64')}`), WELCOME,
      ]));
    }
  });
  await assert.rejects(openConnection({ ...options, findPassword }),
    /incorrect server signature: it does not know the password/);
});

for (const [answer, reason] of [
  ['N', /server does not support SSL, but SSL was required/],
  ['SX', /received invalid or unencrypted data in response to SSL negotiation/],
  ['E', /received invalid or unencrypted data/],
  ['', /server closed the connection unexpectedly/],
] as const) {
  test(`does not continue without TLS after the answer "${answer}"`, async (t) => {
    const received: Buffer[] = [];
    const { servers: [server], ...options } = await startFake(t, (socket, chunk) => {
      received.push(chunk);
      socket.end(answer);
    });
    assert.ok(server);
    const tls = { ...options, servers: [{ ...server, sslMode: 'require' as const }] };
    await assert.rejects(openConnection(tls), reason);
    assert.equal(Buffer.concat(received).toString('hex'), '0000000804d2162f', 'only SSLRequest');
  });
}
