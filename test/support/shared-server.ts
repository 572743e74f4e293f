/** One server with the portal for the tests of a file. */
import { after, before } from 'node:test';
import type { PortalTestOptions } from './portal.ts';
import { startServer, type TestServer } from './server.ts';

const WITH_PORTAL: PortalTestOptions = { portal: true };

/** Call this outside of tests. */
export function shareServer(): () => TestServer {
  let server: TestServer | undefined;
  const ends: (() => unknown)[] = [];
  // The cast: cleanup functions take no arguments.
  const file = { after: (end: unknown): unknown => ends.push(end as () => unknown) };
  before(async () => { server = await startServer(file, WITH_PORTAL); });
  after(async () => { for (const end of ends.toReversed()) await end(); });
  return () => {
    if (!server) throw new Error('The server exists only while tests run.');
    return server;
  };
}
