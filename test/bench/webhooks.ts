/** Webhooks: how many deliveries per second reach a receiver on the same machine. */
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { postJson } from './client.ts';
import { createSeller } from './data.ts';
import { startServer } from './process.ts';
import { printRow } from './table.ts';

const ENDPOINTS = 20;
const CHANGES = 20_000;
const CHANGES_PER_CALL = 1_000;

export async function measureWebhooks(folder: string): Promise<void> {
  mkdirSync(folder);
  const data = join(folder, 'data');
  const { key } = createSeller(data);
  const server = await startServer(data, ['--webhook-allow-private', '--webhook-allow-http']);
  const target = { port: server.port, key };
  await postJson(target, '/api/v1/products', {
    name: 'Mug', category: 'Kitchen', sku: 'S-1', price: 1, stock: 1_000,
  });
  const receiver = await startReceiver();
  for (let n = 0; n < ENDPOINTS; n += 1) {
    await postJson(target, '/api/v1/webhooks', { url: `${receiver.url}/${n}` });
  }
  const start = performance.now();
  for (let n = 0; n < CHANGES; n += CHANGES_PER_CALL) {
    const changes = Array.from({ length: CHANGES_PER_CALL }, (_, at) =>
      ({ sku: 'S-1', adjust: at % 2 === 0 ? 1 : -1 }));
    await postJson(target, '/api/v1/stock', { changes });
  }
  await receiver.got(ENDPOINTS * CHANGES);
  const seconds = (performance.now() - start) / 1000;
  console.log(`\nWebhooks: ${CHANGES.toLocaleString('en')} changes to ${ENDPOINTS} endpoints`);
  printRow(['', 'deliveries/s', 'changes/s', 'peak MiB']);
  const { deliveries } = receiver;
  printRow([
    'to loopback', deliveries() / seconds, (ENDPOINTS * CHANGES) / seconds, server.peakMemory(),
  ]);
  await receiver.stop();
  await server.stop();
}

/** Responds 204 to every delivery, and counts deliveries and changes. */
async function startReceiver() {
  let deliveries = 0;
  let changes = 0;
  let wanted = Infinity;
  const done = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    deliveries += 1;
    changes += JSON.parse(text).data.changes.length;
    response.writeHead(204).end();
    if (changes >= wanted) done.resolve();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on a port has an address of this type.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    deliveries: () => deliveries,
    got(count: number): Promise<void> {
      wanted = count;
      if (changes >= wanted) done.resolve();
      return done.promise;
    },
    async stop(): Promise<void> {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
