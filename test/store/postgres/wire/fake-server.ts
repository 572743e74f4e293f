/** A fake PostgreSQL server that sends what a test tells it to. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import {
  type ConnectOptions, openConnection,
} from '../../../../src/store/postgres/connect/open-connection.ts';
import type { Connection } from '../../../../src/store/postgres/wire/connection.ts';

/** A message: its type, and the parts of its body. */
export function message(type: string, ...parts: readonly (string | Uint8Array)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
}

export function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

export function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

/** A field of a row. */
export function field(text: string): Buffer {
  return Buffer.concat([int32(Buffer.byteLength(text)), Buffer.from(text)]);
}

/** A RowDescription of columns of these types. */
export function description(types: Readonly<Record<string, number>>): Buffer {
  return message('T', int16(Object.keys(types).length), ...Object.entries(types)
    .map(([name, type]) => Buffer.concat([
      Buffer.from(`${name}\0`), int32(0), int16(0), int32(type), int16(-1), int32(-1), int16(0),
    ])));
}

export const READY = message('Z', 'I');
/** The start of a session without a password. */
export const WELCOME = Buffer.concat([
  message('R', int32(0)), message('S', 'server_version\0', '15.0\0'),
  message('K', int32(1), int32(2)), READY,
]);
/** What answers the statements that follow a start: they set and read settings. */
export const SETTINGS = Buffer.concat([
  message('1'), message('2'), description({ read_only: 25, version: 25 }),
  message('D', int16(2), field('off'), field('150000')), message('C', 'SELECT 1\0'),
  message('1'), message('2'), description({ set_config: 25 }), message('C', 'SELECT 0\0'), READY,
]);
/** For `SELECT 1`, which is prepared first. */
export const ANSWER = Buffer.concat([
  message('1'), message('t', int16(0)), description({ one: 23 }), READY,
  message('2'), message('D', int16(1), field('1')), message('C', 'SELECT 1\0'), READY,
]);

/** Calls back with each chunk that a client sends; `at` counts them. */
export type Respond = (socket: Socket, chunk: Buffer, at: number) => void;

/** Options to connect to a fake server, which runs until the test ends; without a password. */
export async function startFake(
  t: Pick<TestContext, 'after'>, respond: Respond,
): Promise<ConnectOptions> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    let at = 0;
    sockets.add(socket);
    socket.on('error', () => {}).on('data', (chunk: Buffer) => {
      respond(socket, chunk, at);
      at += 1;
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    // A server that listens on a port has an address of this type.
    servers: [{ host: '127.0.0.1', port: (server.address() as AddressInfo).port,
      sslMode: 'disable' }],
    user: 'seller', database: 'shop', applicationName: 'test', connectTimeoutMs: 1_000,
    findPassword: async () => undefined, targetSessionAttrs: 'any', poolMode: 'session',
  };
}

/** A connection to a fake server that answers its first statement with these bytes. */
export async function connectToFake(
  t: Pick<TestContext, 'after'>, answer: (socket: Socket) => void,
): Promise<Connection> {
  const options = await startFake(t, (socket, _chunk, at) => {
    if (at === 0) socket.write(WELCOME);
    else if (at === 1) socket.write(SETTINGS);
    else if (at === 2) answer(socket);
  });
  const connection = await openConnection(options);
  t.after(() => connection.destroy(new Error('the test has ended')));
  return connection;
}
