/**
 * A process with a server whose streams are long. It revokes its key when its parent says so, and
 * stops on SIGTERM as `serve` does, but waits less for clients that do not read.
 */
import { STOP_TIMEOUT_MS } from '../../src/http/limits.ts';
import { ConcurrencyLimiter } from '../../src/domain/concurrency-limiter.ts';
import { startServer } from '../support/server.ts';
import { lengthen, SKU } from './long-streams.ts';

const { setTimeout } = globalThis;
globalThis.setTimeout = Object.assign(
  (run: () => void, ms?: number) => setTimeout(run, ms === STOP_TIMEOUT_MS ? 1 : ms), setTimeout);

// All streams are of one seller.
ConcurrencyLimiter.prototype.acquire = () => () => {};

const stops: (() => unknown)[] = [];
const server = await startServer(
  { after: (stop) => { stops.push(stop as () => unknown); } }, // the cast: a hook with no arguments
  // Live streams end cleanly, and their clients wait for the end of the connection.
  { streamLimits: { reauthorizeIntervalMs: 50 }, keepAliveTimeoutMs: 1_000 },
);
const seller = await server.makeSeller();
await seller.create({ sku: SKU });
await lengthen(server.store, seller);
process.once('SIGTERM', async () => {
  for (const stop of stops.toReversed()) await stop();
  process.exit();
});
process.on('message', () => void server.store.revokeKey(seller));
process.send?.({ port: server.port, key: seller.key });
