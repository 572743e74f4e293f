/**
 * Figures of the process: memory, time, open files, and how late its event loop is. The histogram
 * of `perf_hooks` would do for the last, but that it has no buckets, and forgets what goes on while
 * it is reset.
 */
import { readdir } from 'node:fs/promises';
import { EVENT_LOOP_DELAY_BUCKETS_SECONDS, EVENT_LOOP_DELAY_SAMPLE_INTERVAL_MS } from './limits.ts';
import { Histogram } from '../../runtime/histogram.ts';
import { type MetricFamily, single } from '../../runtime/metric-family.ts';
import { listSamples } from './prometheus.ts';

export class ProcessMetrics {
  readonly #delays = new Histogram(EVENT_LOOP_DELAY_BUCKETS_SECONDS);
  readonly #timer: NodeJS.Timeout;
  #lookedAt = performance.now();

  constructor() {
    this.#timer = setInterval(() => {
      const now = performance.now();
      const delayMs = now - this.#lookedAt - EVENT_LOOP_DELAY_SAMPLE_INTERVAL_MS;
      this.#delays.add(Math.max(delayMs, 0) / 1_000);
      this.#lookedAt = now;
    }, EVENT_LOOP_DELAY_SAMPLE_INTERVAL_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async list(): Promise<MetricFamily[]> {
    const { user, system } = process.cpuUsage();
    const openFiles = await countOpenFiles();
    return [
      single('process_resident_memory_bytes', 'gauge', 'Memory in use.', process.memoryUsage.rss()),
      single('process_cpu_seconds_total', 'counter', 'Time of all threads on a processor.',
        (user + system) / 1e6),
      single('process_start_time_seconds', 'gauge', 'When the process began, since 1970.',
        performance.timeOrigin / 1_000),
      {
        name: 'process_open_fds', type: 'gauge', help: 'Open files and sockets.',
        samples: openFiles === undefined ? [] : [{ value: openFiles }],
      },
      {
        name: 'event_loop_delay_seconds', type: 'histogram',
        help: `How late a timer of ${EVENT_LOOP_DELAY_SAMPLE_INTERVAL_MS} ms was: what others `
          + 'wait.',
        samples: listSamples(this.#delays.read()),
      },
    ];
  }
}

/** Undefined where the system has no /proc. */
async function countOpenFiles(): Promise<number | undefined> {
  try {
    return (await readdir('/proc/self/fd')).length;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}
