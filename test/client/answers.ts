/** A fake server that fails, stalls or disconnects as a client test requires. */
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type ClientOptions, SellerClient } from '../../src/client/index.ts';
import { listenOnFreePort } from '../support/listening.ts';

export const KEY = `spk_${'a'.repeat(36)}`;
export const MUG = { name: 'Mug', category: 'Kitchen', sku: 'MUG-1', price: 12.5, stock: 40 };
export const PRODUCT = JSON.stringify({ ...MUG, id: 'prd_1' });

/** Responds to each request with the next of these listeners, and then always with the last. */
export async function serve(t: TestContext, ...answers: readonly RequestListener[]) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    const answer = answers[Math.min(requests.length, answers.length - 1)];
    requests.push(request);
    request.resume();
    void answer?.(request, response);
  });
  const baseUrl = `http://127.0.0.1:${await listenOnFreePort(t, server)}`;
  const open = (options: Partial<ClientOptions> = {}) =>
    new SellerClient({ baseUrl, key: KEY, ...options });
  return { open, requests, baseUrl };
}

export const succeed: RequestListener = (_, response) => response.end(PRODUCT);
export const breakOff: RequestListener = ({ socket }) => socket.destroy();

export function fail(
  status: number, code: string, headers: Record<string, string> = {},
): RequestListener {
  return (_, response) => {
    response.writeHead(status, { 'content-type': 'application/problem+json', ...headers });
    const type = `urn:problem-type:seller-product-api:${code}`;
    response.end(JSON.stringify({ type, title: 'No', status, detail: 'Not now.' }));
  };
}

export function respond(body: string, status = 200, type = 'application/json'): RequestListener {
  return (_, response) => { response.writeHead(status, { 'content-type': type }).end(body); };
}

/** Node's `fetch` may open another connection, which keeps no process alive. */
export async function untilClosed(requests: readonly IncomingMessage[]): Promise<void> {
  while (requests.some(({ socket }) => !socket.destroyed)) await wait(5);
}
