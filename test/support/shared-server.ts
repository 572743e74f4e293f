/** One server for the tests of a file. */
import { after, before } from 'node:test';
import { startServer, type TestOptions, type TestServer } from './server.ts';

/** Call this outside of tests. */
export function shareServer(options: TestOptions): () => TestServer {
  let server: TestServer | undefined;
  const ends: (() => unknown)[] = [];
  // The cast: cleanup functions take no arguments.
  const file = { after: (end: unknown): unknown => ends.push(end as () => unknown) };
  before(async () => { server = await startServer(file, options); });
  after(async () => { for (const end of ends.toReversed()) await end(); });
  return () => {
    if (!server) throw new Error('The server exists only while tests run.');
    return server;
  };
}
