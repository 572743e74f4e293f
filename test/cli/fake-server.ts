/** A server that answers as a test wants it to, for what a real one seldom does. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

/** The URL of a server that answers its requests with these, in turn, and then with the last. */
export async function startFakeServer(
  t: TestContext, ...answers: readonly RequestListener[]
): Promise<string> {
  let requests = 0;
  const server = createServer((request, response) => {
    const answer = answers[Math.min(requests, answers.length - 1)];
    requests += 1;
    request.on('error', () => {}); // it may have been cut off
    answer?.(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  // A server that listens on a port has an address of this type.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
