/** The requests of each workload, as the bytes that a connection sends. */
import { makeProduct } from './made-up.ts';

/** The kinds of workloads, each with the API key that it sends. */
export type Workload =
  /** GET, each path in turn. */
  | { readonly kind: 'get'; readonly key: string; readonly paths: readonly string[] }
  /** POST of 1,000 stock changes, of the products `makeProduct(n, 'F')` with n < 1,000. */
  | { readonly kind: 'sync'; readonly key: string }
  /** Creates products. No two slices may have the same `series`: it begins their SKUs. */
  | { readonly kind: 'create'; readonly key: string; readonly series: string }
  /** Nine lists, then a product is created. */
  | { readonly kind: 'mixed'; readonly key: string; readonly series: string };

export const PRODUCTS_PATH = '/api/v1/products';
export const CHANGES_PER_CALL = 1_000;
export const CONNECTIONS = 64;
export const SYNC_CONNECTIONS = 4;
/** Bodies of `sync`, sent in turn: each changes all stocks that the last one set. */
const SYNC_BODIES = 90;
const LISTS_PER_CREATE = 9;

/** Read-only workloads come first. */
export const NAMES = ['list', 'get', 'sync', 'mixed', 'create'] as const;
export type WorkloadName = typeof NAMES[number];

/** @param path Of one product. @param series Of the products that it creates. */
export function makeWorkload(
  name: WorkloadName, { key, path }: { readonly key: string; readonly path: string },
  series: string,
): Workload {
  switch (name) {
    case 'list': return { kind: 'get', key, paths: [PRODUCTS_PATH] };
    case 'get': return { kind: 'get', key, paths: [path] };
    case 'sync': return { kind: 'sync', key };
    case 'mixed':
    case 'create': return { kind: name, key, series };
  }
}

export function countConnections({ kind }: Workload): number {
  return kind === 'sync' ? SYNC_CONNECTIONS : CONNECTIONS;
}

/** Returns a function that creates the next request. */
export function createRequests(workload: Workload): () => string | Buffer {
  const { key } = workload;
  switch (workload.kind) {
    case 'get':
      return cycle(workload.paths.map((path) => formatGet(path, key)));
    case 'sync':
      return cycle(Array.from({ length: SYNC_BODIES }, (_, n) =>
        Buffer.from(formatPost('/api/v1/stock', key, makeSyncBody(n)))));
    case 'create':
      return createProducts(key, workload.series);
    case 'mixed': {
      const create = createProducts(key, workload.series);
      const list = formatGet(PRODUCTS_PATH, key);
      let count = 0;
      return () => (count++ % (LISTS_PER_CREATE + 1) < LISTS_PER_CREATE ? list : create());
    }
  }
}

function cycle<Request>(requests: readonly Request[]): () => Request {
  let count = 0;
  return () => {
    const request = requests[count % requests.length];
    if (request === undefined) throw new Error('A workload needs at least one request.');
    count += 1;
    return request;
  };
}

function createProducts(key: string, series: string): () => string {
  let created = 0;
  return () => {
    created += 1;
    return formatPost(PRODUCTS_PATH, key, JSON.stringify(makeProduct(created, series)));
  };
}

function makeSyncBody(round: number): string {
  const changes = Array.from({ length: CHANGES_PER_CALL }, (_, n) =>
    ({ sku: makeProduct(n, 'F').sku, set: (n + round) % SYNC_BODIES + 1 }));
  return JSON.stringify({ changes });
}

function formatGet(path: string, key: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: bench\r\nx-api-key: ${key}\r\n\r\n`;
}

/** @param body ASCII. */
function formatPost(path: string, key: string, body: string): string {
  return `POST ${path} HTTP/1.1\r\nHost: bench\r\nx-api-key: ${key}\r\n`
    + `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}
