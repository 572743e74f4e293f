/**
 * A load generator on bare sockets: every connection sends its next request when the last one is
 * answered. It reads status lines and Content-Length, which is all that the servers here send.
 */
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';

export interface Load {
  readonly port: number;
  readonly connections: number;
  readonly durationMs: number;
  /** The bytes of the next request. */
  readonly request: () => string;
}

/** Rates are requests a second, latencies milliseconds. */
export interface Measured {
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
}

/** Rejects on the first answer that is not 2xx: a benchmark of errors measures nothing. */
export async function generateLoad(load: Load): Promise<Measured> {
  const latencies: number[] = [];
  const start = performance.now();
  const deadline = start + load.durationMs;
  const next = (): string | undefined =>
    performance.now() < deadline ? load.request() : undefined;
  await Promise.all(Array.from({ length: load.connections }, () =>
    runConnection(load.port, next, (latency) => latencies.push(latency))));
  const seconds = (performance.now() - start) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? NaN;
  return { rate: latencies.length / seconds, p50: at(0.5), p99: at(0.99) };
}

function runConnection(
  port: number, next: () => string | undefined, note: (latencyMs: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1').setNoDelay(true);
    let missing = 0; // bytes of the answer that have not come yet, its header included
    let sentAt = 0;
    const sendNext = (): void => {
      const request = next();
      if (request === undefined) {
        socket.end();
        resolve();
        return;
      }
      sentAt = performance.now();
      socket.write(request);
    };
    socket.on('connect', sendNext);
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('The server ended a connection.')));
    socket.on('data', (chunk) => {
      if (missing === 0) {
        const size = measureAnswer(chunk.toString('latin1', 0, 1024));
        if (typeof size === 'string') {
          socket.destroy(new Error(size));
          return;
        }
        missing = size;
      }
      missing -= chunk.length;
      if (missing > 0) return;
      note(performance.now() - sentAt);
      sendNext();
    });
  });
}

/** Bytes of the whole answer, or what is wrong with it. Its header comes in one piece here. */
function measureAnswer(head: string): number | string {
  if (!head.startsWith('HTTP/1.1 2')) return `answered: ${head.slice(0, 300)}`;
  const end = head.indexOf('\r\n\r\n');
  const length = /content-length: (\d+)/i.exec(head)?.[1];
  if (end < 0 || length === undefined) return `an answer without a length: ${head}`;
  return end + 4 + Number(length);
}
