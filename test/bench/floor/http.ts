/**
 * The floor of HTTP: plain `node:http` that stores nothing and responds with prepared bytes. No
 * server on `node:http` can be faster. Prints its port.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const PRODUCTS_PATH = '/api/v1/products';
const at = '2026-01-01T00:00:00.000Z';
const product = {
  id: 'prd_1k7s94cm9001k7s94bi600', name: 'Product name number 12345', category: 'Kitchen',
  sku: 'SKU-000001', price: 1999, currency: 'EUR', stock: 12, position: 1, created_at: at,
  updated_at: at,
};
const one = Buffer.from(JSON.stringify(product));
const page = Buffer.from(JSON.stringify({ products: Array(100).fill(product), next_cursor: null }));

function send(response: ServerResponse, status: number, bytes: Buffer): void {
  response.writeHead(status, {
    'content-type': 'application/json', 'content-length': bytes.length,
  });
  response.end(bytes);
}

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    send(response, 200, request.url === PRODUCTS_PATH ? page : one);
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    JSON.parse(Buffer.concat(chunks).toString());
    send(response, 201, one);
  });
});
// A server that listens on a port has an address of this type.
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
