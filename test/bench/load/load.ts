/**
 * Measures how fast a server responds. A thread of its own generates the requests, so work of the
 * benchmark never delays them. Each measurement opens new connections and closes them: none is idle
 * long enough for a server to close it. A failure of any request fails the measurement.
 */
import { Worker } from 'node:worker_threads';
import type { Workload } from './workloads.ts';

export interface Load {
  readonly port: number;
  readonly connections: number;
  /** How long responses are measured, after `WARM_UP_MS` in which they are not. */
  readonly durationMs: number;
  readonly workload: Workload;
}

/** The result of one measurement. */
export interface Measurement {
  /** Measured responses per second. */
  readonly rate: number;
  /** Milliseconds from each request to the end of its response. */
  readonly latencies: Float64Array;
  /** All responses, those of the warm-up included. */
  readonly responses: number;
}

/** @throws If a connection fails, or if a response is not 2xx: errors are not worth measuring. */
export function generateLoad(load: Load): Promise<Measurement> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL('generator.ts', import.meta.url), { workerData: load });
    thread.once('message', resolve);
    thread.once('error', reject);
    // Too late to matter after a message.
    thread.once('exit', () => reject(new Error('The load generator ended without a result.')));
  });
}
