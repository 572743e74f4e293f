/**
 * A process of hostile clients: it keeps a given number of connections open, replaces each that is
 * closed, and reports on request how many are open. Each kind abuses the server in its own way,
 * some with a valid key.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

/** The command-line argument of the process, as JSON. */
export interface Attack {
  readonly port: number;
  readonly key: string;
  readonly connections: number;
}

/** The number of open connections, and of those opened of each kind. */
export interface Held {
  readonly open: number;
  readonly opened: Readonly<Record<string, number>>;
}

const ADDRESSES = 200;
const PATH = '/api/v1/products';

// The cast: the test that starts this process writes it.
const attack = JSON.parse(process.argv[2] ?? '') as Attack;
const head = (line: string, ...fields: readonly string[]): string =>
  [`${line} HTTP/1.1`, 'Host: x', `X-Api-Key: ${attack.key}`, ...fields, '', ''].join('\r\n');

const csv = 'name,category,sku,price,stock\n';
const bombs = [`${csv}"${'x'.repeat(32 * 1024 * 1024)}`, csv + '\n'.repeat(32 * 1024 * 1024)]
  .map((text) => gzipSync(text));

async function drip(socket: Socket, text: string): Promise<void> {
  while (!socket.destroyed) {
    socket.write(text);
    await delay(1_000);
  }
}

/** A random delay, so that the clients do not act at the same time. */
const linger = (): Promise<void> => delay(1_000 + Math.random() * 4_000);

const kinds: Readonly<Record<string, (socket: Socket) => unknown>> = {
  slowHeaders(socket) {
    socket.write(`GET ${PATH} HTTP/1.1\r\nHost: x\r\nA: `);
    return drip(socket, 'x');
  },
  slowBody(socket) {
    const fields = ['Content-Type: application/json', 'Content-Length: 60000'];
    socket.write(head(`POST ${PATH}`, ...fields));
    return drip(socket, ' ');
  },
  slowImport(socket) {
    socket.write(head(`POST ${PATH}/import`, 'Content-Type: text/csv', 'Content-Length: 60000'));
    return drip(socket, 'x');
  },
  silent() {},
  unread(socket) {
    socket.pause();
    socket.write(head(`GET ${PATH}?limit=1000`).repeat(5));
  },
  bomb(socket) {
    const bomb = bombs[Math.floor(Math.random() * bombs.length)] ?? Buffer.alloc(0);
    const fields = ['Content-Type: text/csv', 'Content-Encoding: gzip'];
    socket.write(head(`POST ${PATH}/import`, ...fields, `Content-Length: ${bomb.length}`));
    socket.write(bomb);
  },
  async garbage(socket) {
    await linger();
    if (!socket.destroyed) socket.write(`${Math.random()}\0\r\n\r\n`.repeat(20));
  },
  async breakOff(socket) {
    socket.write(head(`POST ${PATH}`, 'Content-Type: application/json', 'Content-Length: 9'));
    await linger();
    socket.resetAndDestroy();
  },
};

const open = new Set<Socket>();
const opened: Record<string, number> = {};

function attackAs(kind: string, index: number): void {
  const localAddress = `127.0.1.${1 + index % ADDRESSES}`;
  const socket = connect({ port: attack.port, host: '127.0.0.1', localAddress });
  socket.on('error', () => {}); // the server closes it
  socket.resume();
  socket.once('connect', () => {
    open.add(socket);
    opened[kind] = (opened[kind] ?? 0) + 1;
    void kinds[kind]?.(socket);
  });
  socket.once('close', () => {
    open.delete(socket);
    setTimeout(() => attackAs(kind, index), 50);
  });
}

process.on('message', () => process.send?.({ open: open.size, opened } satisfies Held));
process.on('disconnect', () => process.exit());
const names = Object.keys(kinds);
for (let index = 0; index < attack.connections; index += 1) {
  attackAs(names[index % names.length] ?? '', index);
}
