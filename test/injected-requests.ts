/**
 * A process that embeds the app and gives it requests without a connection, as light-my-request
 * does: their sockets emit nothing. It prints the answers, and what keeps it alive once the app and
 * the store are closed.
 */
import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { generateApiKey, parseNewApiKey, toStoredSecret } from '../src/domain/access/api-key.ts';
import { parseNewSeller } from '../src/domain/access/seller.ts';
import { createApp } from '../src/features.ts';
import { BODY_LIMIT_BYTES } from '../src/http/limits.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';

/** What the process prints, as JSON. */
export interface Outcome {
  readonly statuses: readonly number[];
  readonly resources: readonly string[];
}

interface Injected {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Whether the body has no end. */
  readonly isOpen?: boolean;
}

const [, , folder = ''] = process.argv;
const store = await openSqliteStore({ folder });
const app = createApp({ store });
const { id } = await store.createSeller(parseNewSeller('A shop', 'EUR'));
const key = generateApiKey();
const newKey = { name: 'test', scopes: [], addressRanges: [], expiresAt: undefined };
await store.createKey(id, toStoredSecret(key), parseNewApiKey(newKey));

async function inject({
  method = 'POST', path = '/api/v1/products', headers = {}, body, isOpen = false,
}: Injected): Promise<number> {
  const request = new IncomingMessage(new Socket());
  const length = body === undefined || 'transfer-encoding' in headers ? {}
    : { 'content-length': String(body.length) };
  Object.assign(request, {
    method, url: path, httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1,
    headers: { host: 'localhost', 'x-api-key': key, ...length, ...headers },
  });
  if (body !== undefined) request.push(body);
  if (!isOpen) request.push(null);
  const response = new ServerResponse(request);
  // The cast: a response only writes to it.
  response.assignSocket(new Writable({ write: (_, __, done) => done() }) as Socket);
  const finished = once(response, 'finish');
  app.handle(request, response);
  await finished;
  return response.statusCode;
}

const json = { 'content-type': 'application/json' };
const product = JSON.stringify({ name: 'Mug', category: 'Kitchen', sku: 'A', price: 1, stock: 1 });
const tooLarge = 'x'.repeat(BODY_LIMIT_BYTES + 1);
const csv = { 'content-type': 'text/csv' };
const statuses: number[] = [];
for (const request of [
  { method: 'GET' },
  { headers: json, body: product },
  { headers: json, body: tooLarge },
  { headers: { ...json, 'transfer-encoding': 'chunked' }, body: tooLarge, isOpen: true },
  { headers: { ...json, 'x-api-key': '' }, body: product },
  { headers: { ...json, 'x-api-key': '' }, body: product, isOpen: true },
  { path: '/api/v1/products/import', headers: csv, body: 'name,category,sku,price,stock\n' },
  { path: '/api/v1/changes?wait=30', method: 'GET' },
  { path: '/readyz', method: 'GET' },
]) statuses.push(await inject(request));
await app.close();
await store.close();
const resources = process.getActiveResourcesInfo();
console.log(JSON.stringify({ statuses, resources } satisfies Outcome));
