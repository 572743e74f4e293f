/** One whole server, with its portal, for all tests of a file that leave nothing in it. */
import { after as afterAll, before } from 'node:test';
import { startServer, type TestServer } from '../support/server.ts';

/** Call it once, outside of tests; the server is there while they run. */
export function shareServer(): () => TestServer {
  const ends: (() => unknown)[] = [];
  let server: TestServer | undefined;
  before(async () => {
    // The cast: what a server ends with takes nothing.
    const after = (end: unknown): unknown => ends.push(end as () => unknown);
    server = await startServer({ after }, { portal: true });
  });
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });
  return () => {
    if (!server) throw new Error('The server is there for tests alone.');
    return server;
  };
}
