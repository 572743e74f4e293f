/**
 * The thread of the load generator. Each connection sends its next request when the response to the
 * last one is complete. It reads status lines and `Content-Length`, and no other framing.
 */
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { Load, Measurement } from './load.ts';
import { createRequests } from './workloads.ts';

/** Not measured: the first requests find cold code on both sides, and new connections. */
const WARM_UP_MS = 300;
const READ_BUFFER_BYTES = 64 * 1024;
/** A response header is shorter, and arrives in one piece. */
const HEADER_LIMIT_BYTES = 2 * 1024;

// The cast: only load.ts starts this thread.
const load = workerData as Load;
const nextRequest = createRequests(load.workload);
const latencies: number[] = [];
let responses = 0;
let isMeasuring = false;
let isEnding = false;

const connections = Array.from({ length: load.connections }, runConnection);
const closed = Promise.all(connections);
closed.catch(() => {}); // rejects below
await Promise.race([wait(WARM_UP_MS), closed]);
isMeasuring = true;
const start = performance.now();
await Promise.race([wait(load.durationMs), closed]);
const seconds = (performance.now() - start) / 1000;
isMeasuring = false;
isEnding = true;
await closed;
const measurement: Measurement = {
  rate: latencies.length / seconds, latencies: Float64Array.from(latencies), responses,
};
parentPort?.postMessage(measurement);

/** Resolves once its last response is complete and the measurement is over. */
function runConnection(): Promise<void> {
  return new Promise((resolve, reject) => {
    let missing = 0; // bytes of the current response, once its header was read
    let sentAt = 0;
    const buffer = Buffer.allocUnsafe(READ_BUFFER_BYTES);
    const socket = connect({
      host: '127.0.0.1', port: load.port, noDelay: true,
      onread: { buffer, callback: (count) => (receive(count), true) },
    });
    const send = (): void => {
      sentAt = performance.now();
      socket.write(nextRequest());
    };
    const receive = (count: number): void => {
      if (missing === 0) {
        const headerEnd = Math.min(count, HEADER_LIMIT_BYTES);
        const size = readResponseSize(buffer.toString('latin1', 0, headerEnd));
        if (size instanceof Error) {
          socket.destroy(size);
          return;
        }
        missing = size;
      }
      missing -= count;
      if (missing > 0) return;
      responses += 1;
      if (isMeasuring) latencies.push(performance.now() - sentAt);
      if (!isEnding) {
        send();
        return;
      }
      socket.destroy();
      resolve();
    };
    socket.on('connect', send);
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(
      `The server on port ${load.port} closed a connection before its response was complete.`)));
  });
}

/** Bytes of a response with its header; an error if it is not 2xx, or has no length. */
function readResponseSize(head: string): number | Error {
  if (!head.startsWith('HTTP/1.1 2')) return new Error(`The server responded: ${head}`);
  const end = head.indexOf('\r\n\r\n');
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (end < 0 || length === undefined) return new Error(`A response without a length: ${head}`);
  return end + 4 + Number(length);
}
