/** Servers for one test, and a free port. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { isSystemError } from '../../src/runtime/system-error.ts';

/** Serves until the test ends. Resolves with `http://127.0.0.1:{port}`. */
export async function listenUntilEnd(
  t: Pick<TestContext, 'after'>, handle: RequestListener,
): Promise<string> {
  return `http://127.0.0.1:${await listenOnFreePort(t, createServer(handle))}`;
}

/** Listens on a free port of 127.0.0.1 until the test ends. Resolves with the port. */
export async function listenOnFreePort(
  t: Pick<TestContext, 'after'>, server: Server,
): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  // A server that listens on a port has an address of this type.
  return (server.address() as AddressInfo).port;
}

/** Below the ephemeral ports, which the system assigns to connections and for port 0. */
const FIRST_PORT = 10_000;
const LAST_PORT = 32_000;

/**
 * A free port for a server that cannot choose its own. The system does not assign it to another
 * process as an ephemeral port (RFC 6056, section 2.1) before that server has started.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch (error) {
      if (!isSystemError(error, 'EADDRINUSE')) throw error;
      continue;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}
