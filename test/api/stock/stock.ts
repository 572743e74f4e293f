/** Sends stock changes, and reads results, stock levels and movements. */
import assert from 'node:assert/strict';
import type { OutgoingHttpHeaders } from 'node:http';
import type { TestContext } from 'node:test';
import type { Answer } from '../../support/http.ts';
import {
  startServer, type TestOptions, type TestSeller, type TestServer,
} from '../../support/server.ts';

export const STOCK = '/api/v1/stock';
export const MOVEMENTS = `${STOCK}/movements`;
export const CHANGES = '/api/v1/changes';
export const NDJSON = 'application/x-ndjson';

interface Sending {
  /** The query string, without the `?`. */
  readonly query?: string;
  readonly headers?: OutgoingHttpHeaders;
}

export interface Shop {
  readonly server: TestServer;
  readonly seller: TestSeller;
  /** Ids of the products, by SKU. */
  readonly ids: Readonly<Record<string, string>>;
}

/** A seller with these products, whose changes take the first positions. */
export async function openShop(
  t: TestContext, stocks: Readonly<Record<string, number>>,
  options?: TestOptions,
): Promise<Shop> {
  const server = await startServer(t, options);
  const seller = await server.makeSeller();
  const ids: Record<string, string> = {};
  for (const [sku, stock] of Object.entries(stocks)) {
    ids[sku] = (await seller.create({ sku, stock })).json().id;
  }
  return { server, seller, ids };
}

/** Sends a value as JSON, and a string unchanged. */
export function sendStock(
  seller: TestSeller, body: unknown, { query, headers }: Sending = {},
): Promise<Answer> {
  return seller.send({
    method: 'POST', path: query === undefined ? STOCK : `${STOCK}?${query}`,
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** Sends changes that the server accepts, and returns the response body. */
export async function sync(
  seller: TestSeller, changes: readonly object[], members: object = {}, sending: Sending = {},
) {
  const answer = await sendStock(seller, { changes, ...members }, sending);
  assert.equal(answer.status, 200, answer.text);
  return answer.json();
}

/** Sends each value as a line of JSON, and each string unchanged. */
export function sendLines(
  seller: TestSeller, lines: readonly unknown[], { query, headers }: Sending = {},
): Promise<Answer> {
  const body = lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`);
  return sendStock(seller, body.join(''), {
    ...(query !== undefined && { query }), headers: { 'content-type': NDJSON, ...headers },
  });
}

/** The stock of all products, by SKU. */
export async function readStocks(seller: TestSeller): Promise<Record<string, number>> {
  const answer = await seller.send({ path: `${STOCK}?limit=1000` });
  assert.equal(answer.status, 200, answer.text);
  const { stock }: { stock: { sku: string; stock: number }[] } = answer.json();
  return Object.fromEntries(stock.map((level) => [level.sku, level.stock]));
}

/** The movements of stock, oldest first, as `sku before after`. */
export async function readLedger(seller: TestSeller, query = ''): Promise<string[]> {
  const answer = await seller.send({ path: `${MOVEMENTS}?limit=1000${query}` });
  assert.equal(answer.status, 200, answer.text);
  const { movements }: { movements: { sku: string; before: number; after: number }[] } =
    answer.json();
  return movements.map(({ sku, before, after }) => `${sku} ${before} ${after}`);
}

/** The position of a seller's catalogue. */
export async function readPosition({ store }: TestServer, seller: TestSeller): Promise<number> {
  return (await store.findSeller(seller.sellerId))?.position ?? 0;
}

/** The statuses of results, in their order. */
export function statusesOf({ results }: { results: { status: string }[] }): string[] {
  return results.map(({ status }) => status);
}
