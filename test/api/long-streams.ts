/** Streams that are longer than what sockets buffer, and what a client received of them. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Store } from '../../src/store/store.ts';
import { routes } from '../support/routes.ts';
import type { TestSeller } from '../support/server.ts';

const STREAM_TYPES: readonly string[] =
  ['application/x-ndjson', 'text/csv', 'text/event-stream'];
const PAGES = 50;
const PAGE_ITEMS = 1_000;
/** As long as they may be, so that rows have some size; names are hardly compressible. */
export const SKU = 'S'.repeat(64);
const NAMES = Array.from({ length: PAGE_ITEMS }, () => randomBytes(150).toString('base64'));

/** Every route that sends or accepts a stream, with the media type: `GET /path text/csv`. */
export const STREAMS: readonly string[] = routes.flatMap(({ method, path, consumes, produces }) => {
  const taken = consumes.filter((type) => STREAM_TYPES.includes(type));
  const sent = produces.filter((type) => STREAM_TYPES.includes(type));
  return (taken.length > 0 ? taken : sent).map((type) => `${method} ${path} ${type}`);
});

/** Makes each collection of this store repeat a page many times, and reverts never end. */
export async function lengthen(store: Store, { sellerId }: TestSeller): Promise<void> {
  const { listStockAt, listMovements } = store;
  const repeat = <Item>([item]: readonly Item[] = []): Item[] =>
    // The cast: an item with another name, if it has one.
    NAMES.map((name) => ({ ...item, name }) as Item);
  const { products } = await store.listProducts(sellerId, { after: undefined, limit: 1 });
  const [{ id }] = products as [typeof products[number]]; // the caller has created it
  Object.assign(store, {
    exportProducts: async () => ({ position: 1, pages: (async function* () {
      for (let n = 0; n < PAGES; n += 1) yield repeat(products);
    })() }),
    async listStockAt(seller, position, query) {
      const { levels } = await listStockAt(seller, position, { ...query, after: undefined });
      // The cast: a page's number is the id of all its products, after which the next one begins.
      const n = (query.after ?? 0) + 1 as typeof id;
      return { levels: repeat(levels).map((level) => ({ ...level, id: n })), hasMore: n < PAGES };
    },
    async listMovements(seller, query) {
      const page = await listMovements(seller, { ...query, after: 0 });
      const next = query.after < PAGES ? query.after + 1 : undefined;
      return { ...page, movements: repeat(page.movements), next };
    },
    startRevert: async () => ({
      importId: undefined, isReplay: false, finish: async () => 1,
      async next() {
        await nextTurn();
        return [{ id, sku: undefined, status: 'unchanged', position: 1 }];
      },
      [Symbol.dispose]: () => {},
    }),
  } satisfies Partial<Store>);
}

/** What a client that stopped reading received once it read on after the cut. */
export interface Received {
  /** The header, and the body as sent. */
  readonly head: string;
  readonly body: Buffer;
  /** Whether the connection was reset. */
  readonly isReset: boolean;
}

/** The rows that a client sends before it stops, by media type and route. */
const ROWS: Readonly<Record<string, string>> = {
  'application/x-ndjson /api/v1/products/import':
    '{"name":"Mug","category":"Kitchen","sku":"M","price":1,"stock":1}\n'.repeat(1_200),
  'text/csv /api/v1/products/import':
    `name,category,sku,price,stock\n${`${'Mug'.repeat(30)},K,M,1,1\n`.repeat(1_200)}`,
  'application/x-ndjson /api/v1/stock': `{"sku":"${SKU}","adjust":1}\n`.repeat(1_200),
  'text/csv /api/v1/stock': `sku,adjust\n${`${SKU},1\n`.repeat(1_800)}`,
};

/**
 * Requests a stream, and stops sending and reading once the response has begun, or with a body that
 * the server has taken. Returns a function that reads what there is until the connection ends.
 */
export async function openStream(
  t: TestContext, port: number, key: string, name: string,
  { version, fields }: { readonly version: string; readonly fields: readonly string[] },
): Promise<() => Promise<Received>> {
  const [method = '', path = '', type = ''] = name.split(' ');
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  const chunks: Buffer[] = [];
  let isReset = false;
  let isReading = false;
  socket.on('error', () => { isReset = true; });
  const closed = once(socket, 'close');
  const start = once(socket, 'data').then(([chunk]) => {
    chunks.push(chunk as Buffer);
    if (!isReading) socket.pause();
  });
  const rows = path.endsWith('/reverts') ? '{"after":0,"up_to":1}' : ROWS[`${type} ${path}`] ?? '';
  const contentType = path.endsWith('/reverts') ? 'application/json' : type;
  const length = path.endsWith('/reverts') ? rows.length : rows.length + 1; // the last byte is late
  socket.write([
    `${method} ${path} HTTP/${version}`, 'host: x', `x-api-key: ${key}`, ...fields,
    ...method === 'GET' ? [`accept: ${type}`]
      : [`content-type: ${contentType}`, `content-length: ${length}`, 'connection: close'],
    '', rows,
  ].join('\r\n'));
  // The report on a write over HTTP/1.0, or without rejected rows, has not begun yet.
  if (method === 'GET') await start;
  else start.catch(() => {});
  return async () => {
    isReading = true;
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.resume();
    await closed.catch(() => {}); // its error was noted
    const bytes = Buffer.concat(chunks);
    const end = bytes.indexOf('\r\n\r\n');
    return {
      head: bytes.subarray(0, Math.max(end, 0)).toString(), isReset,
      body: end < 0 ? Buffer.alloc(0) : bytes.subarray(end + 4),
    };
  };
}

/** Whether HTTP makes a client believe that it has the whole response (RFC 9112 section 6.3). */
export function seemsComplete({ head, body, isReset }: Received): boolean {
  const [, length] = /^content-length: (\d+)$/im.exec(head) ?? [];
  if (length !== undefined) return body.length === Number(length);
  if (/^transfer-encoding: chunked$/im.test(head)) return body.toString().endsWith('\r\n0\r\n\r\n');
  return head !== '' && !isReset;
}
