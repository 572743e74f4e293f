/** A fake server that fails, stalls or disconnects as a client test requires. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { type ClientOptions, SellerClient } from '../../src/client/index.ts';

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
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  // The cast: it listens on a port.
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}`;
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
