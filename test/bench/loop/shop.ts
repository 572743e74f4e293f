/** The server whose event loop is measured: a large catalogue, a key, a signed-in owner. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { openSqliteStore } from '../../../src/store/sqlite/store.ts';
import type { Store } from '../../../src/store/store.ts';
import { STREAMS_PER_SELLER_LIMIT, STREAMS_PER_KEY_LIMIT } from '../../../src/api/limits.ts';
import {
  generateApiKey, parseNewApiKey, toStoredSecret,
} from '../../../src/domain/access/api-key.ts';
import type { SellerId } from '../../../src/domain/id.ts';
import { WEBHOOKS_PER_SELLER_LIMIT } from '../../../src/domain/limits.ts';
import { openShop, type PageClient } from '../../features/portal/page-client.ts';
import { makeVariedProduct } from '../load/made-up.ts';
import { type Running, startMonitoredServer } from '../process.ts';
import type { LongestIteration } from './monitor.ts';

export const PRODUCTS = 100_000;
const CHANGES = 100_000;
/** The product with the most stock movements. */
export const BUSY = makeVariedProduct(PRODUCTS + 1);
const READY_POLL_MS = 500;

export interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface MeasuredShop {
  readonly server: Running;
  readonly user: PageClient;
  /** The longest iteration of its event loop since the last call. */
  readLongest(): Promise<LongestIteration>;
  /** Sends a request with the key, reads the whole response, and returns its beginning. */
  send(sent: Sent): Promise<{ readonly status: number; readonly head: string }>;
  /** Follows the changes live from the first one to a position. */
  follow(path: string, position: number): Promise<void>;
  /** Does work that changes something, while the maximum number of streams follows the changes. */
  followAll(work: () => Promise<void>): Promise<void>;
}

/** 100,000 products and 300,000 entries of history. */
export async function openMeasuredShop(folder: string): Promise<MeasuredShop> {
  const monitor = new URL('monitor.ts', import.meta.url);
  const flags = ['--webhook-allow-private', '--webhook-allow-http'];
  const server = await startMonitoredServer(folder, flags, monitor);
  const store = await openSqliteStore({ folder });
  const { user, key, sellerId } = await openShop({ port: server.port, store });
  const keys = await makeKeys(store, sellerId);
  await store.close();
  const send: MeasuredShop['send'] = (sent) => sendTo(server.port, key, sent);
  await send(importOf(makeLines(0, PRODUCTS + 2), 'application/x-ndjson'));
  const changes = Array.from({ length: CHANGES }, (_, n) =>
    `{"sku":"${makeVariedProduct(n).sku}","adjust":1,"reason":"counted"}\n`);
  const busy = `{"sku":"${BUSY.sku}","adjust":1,"reason":"counted"}\n`.repeat(CHANGES);
  for (const body of [changes.join(''), busy]) {
    await send({
      method: 'POST', path: '/api/v1/stock?report=failed', body,
      headers: { 'content-type': 'application/x-ndjson' },
    });
  }
  while ((await send({ path: '/api/v1/products?q=mug&limit=1' })).status !== 200) {
    await wait(READY_POLL_MS);
  }
  const readLongest = async (): Promise<LongestIteration> => {
    server.child.send('longest');
    const [longest] = await once(server.child, 'message');
    return longest;
  };
  return {
    server, user, send, readLongest,
    follow: (path, position) => follow(server.port, key, path, position),
    async followAll(work) {
      const { port } = server;
      const position = await findPosition(send);
      const streams = await Promise.all(keys.flatMap((one) =>
        Array.from({ length: STREAMS_PER_KEY_LIMIT }, () => beginStream(port, one, position))));
      await readLongest();
      await work();
      await Promise.all(streams.map((read) => read()));
    },
  };
}

export function importOf(body: string | Uint8Array, type: string, coding?: 'gzip'): Sent {
  return {
    method: 'POST', path: '/api/v1/products/import', body,
    headers: { 'content-type': type, ...(coding && { 'content-encoding': coding }) },
  };
}

export function makeLines(from: number, count: number): string {
  return Array.from({ length: count }, (_, n) =>
    `${JSON.stringify(makeVariedProduct(from + n))}\n`).join('');
}

export function makeCsv(from: number, count: number): string {
  const rows = Array.from({ length: count }, (_, n) => {
    const { name, category, sku, price, stock } = makeVariedProduct(from + n);
    return `${name},${category},${sku},${price},${stock}\n`;
  });
  return `name,category,sku,price,stock\n${rows.join('')}`;
}

async function sendTo(
  port: number, key: string, { method = 'GET', path, headers = {}, body }: Sent,
): ReturnType<MeasuredShop['send']> {
  const all = { 'x-api-key': key, ...headers };
  const outgoing = request({ host: '127.0.0.1', port, method, path, headers: all, agent: false });
  outgoing.end(body);
  const [response] = await once(outgoing, 'response');
  let head = '';
  for await (const chunk of response) if (head.length < 300) head += String(chunk);
  return { status: response.statusCode, head: head.slice(0, 300) };
}

async function follow(port: number, key: string, path: string, position: number): Promise<void> {
  const headers = { 'x-api-key': key, accept: 'text/event-stream' };
  const outgoing = request({ host: '127.0.0.1', port, path, headers, agent: false }).end();
  const [response] = await once(outgoing, 'response');
  for await (const chunk of response.setEncoding('utf8')) {
    const last = [...chunk.matchAll(/^id: (\d+)$/gm)].at(-1);
    if (last && Number(last[1]) >= position) break;
  }
}

function makeKeys(store: Store, sellerId: SellerId): Promise<string[]> {
  const count = STREAMS_PER_SELLER_LIMIT / STREAMS_PER_KEY_LIMIT;
  return Promise.all(Array.from({ length: count }, async (_, n) => {
    const key = generateApiKey();
    await store.createKey(sellerId, toStoredSecret(key), parseNewApiKey({
      name: `follows ${n}`, scopes: [], addressRanges: [], expiresAt: undefined,
    }));
    return key;
  }));
}

async function findPosition(send: MeasuredShop['send']): Promise<number> {
  const { head } = await send({
    method: 'POST', path: '/api/v1/stock', body: '{"changes":[]}',
    headers: { 'content-type': 'application/json' },
  });
  return JSON.parse(head).position;
}

/** Resolves once the stream follows, with a function that reads the next change and ends it. */
async function beginStream(port: number, key: string, after: number): Promise<() => Promise<void>> {
  const headers = { 'x-api-key': key, accept: 'text/event-stream' };
  const path = `/api/v1/changes?after=${after}`;
  const outgoing = request({ host: '127.0.0.1', port, path, headers, agent: false }).end();
  const [response] = await once(outgoing, 'response');
  const chunks = response[Symbol.asyncIterator]();
  await chunks.next(); // the retry delay
  return async () => {
    await chunks.next();
    outgoing.destroy();
  };
}

/** Creates as many endpoints as a seller may have, with a receiver in this process. */
export async function openWebhooks({ send }: MeasuredShop): Promise<() => Promise<void>> {
  const receiver = createServer((incoming, response) => {
    incoming.resume().on('end', () => response.writeHead(204).end());
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  // A server that listens on a port has an address of this type.
  const { port } = receiver.address() as AddressInfo;
  const headers = { 'content-type': 'application/json' };
  const made = await Promise.all(Array.from({ length: WEBHOOKS_PER_SELLER_LIMIT }, async (_, n) => {
    const body = JSON.stringify({ url: `http://127.0.0.1:${port}/${n}` });
    const { head } = await send({ method: 'POST', path: '/api/v1/webhooks', headers, body });
    return String(/"(whk_\w+)"/.exec(head)?.[1]);
  }));
  return async () => {
    for (const id of made) await send({ method: 'DELETE', path: `/api/v1/webhooks/${id}` });
    receiver.close();
    receiver.closeAllConnections();
  };
}
