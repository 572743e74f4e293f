/**
 * Server metrics: requests, connections, store, log and process. Requests are counted by route,
 * method and status, so the number of series depends only on the routes, never on sellers, keys,
 * addresses or anything clients send.
 */
import { readdir } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import {
  EVENT_LOOP_DELAY_BUCKETS_SECONDS, EVENT_LOOP_DELAY_SAMPLE_INTERVAL_MS, METRICS_QUERY_TIMEOUT_MS,
  REQUEST_DURATION_BUCKETS_SECONDS,
} from './limits.ts';
import type { RunningServer } from '../../feature.ts';
import type { AccessLogEntry } from '../../http/request-record.ts';
import { readOpenFileLimit } from '../../http/server/idle-connections.ts';
import { makeHistogram } from '../../runtime/histogram.ts';
import {
  counter, gauge, type Labels, type MetricFamily, samplesBy,
} from '../../runtime/metric-family.ts';
import { VERSION } from '../../runtime/version.ts';
import type { Log } from './log.ts';
import { histogram } from './prometheus.ts';

interface RouteMetrics {
  readonly durations: ReturnType<typeof makeHistogram>;
  /** By method and status. */
  readonly requests: Map<string, { readonly labels: Labels; value: number }>;
  sentBytes: number;
  incomplete: number;
}

/** Counts requests, samples event-loop delay, and lists all metrics. */
export class ServerMetrics {
  readonly #log: Log;
  readonly #routes = new Map<string, RouteMetrics>();
  /** Requests over a rate limit, by whose limit it was. */
  readonly #limited = { key: 0, portal: 0, address: 0 };
  /** Not the `perf_hooks` histogram, which has no buckets and misses delays while it is reset. */
  readonly #delays = makeHistogram(EVENT_LOOP_DELAY_BUCKETS_SECONDS);
  readonly #timer: NodeJS.Timeout;
  #sampledAt = performance.now();

  constructor(log: Log) {
    this.#log = log;
    this.#timer = setInterval(() => {
      const now = performance.now();
      const delayMs = now - this.#sampledAt - EVENT_LOOP_DELAY_SAMPLE_INTERVAL_MS;
      this.#delays.add(Math.max(delayMs, 0) / 1_000);
      this.#sampledAt = now;
    }, EVENT_LOOP_DELAY_SAMPLE_INTERVAL_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  count(entry: AccessLogEntry): void {
    const { method, route, status, durationMs, sentBytes, isComplete } = entry;
    const metrics = this.#routes.get(route) ?? {
      durations: makeHistogram(REQUEST_DURATION_BUCKETS_SECONDS), requests: new Map(),
      sentBytes: 0, incomplete: 0,
    };
    this.#routes.set(route, metrics);
    metrics.durations.add(durationMs / 1_000);
    metrics.sentBytes += sentBytes;
    if (!isComplete) metrics.incomplete += 1;
    if (status === 429) this.#limited[findLimit(entry)] += 1;
    const name = `${method}${status}`;
    const requests = metrics.requests.get(name)
      ?? { labels: { method, route, status: String(status) }, value: 0 };
    requests.value += 1;
    metrics.requests.set(name, requests);
  }

  async list(server: RunningServer): Promise<MetricFamily[]> {
    const { written, dropped } = this.#log.readMetrics();
    return [
      ...this.#listRequests(),
      ...listLoad(server),
      ...listConnections(server),
      ...await listStore(server),
      ...server.listMetrics(),
      counter('log_lines_total', 'Log lines written.', written),
      counter('log_lines_dropped_total', 'Log lines dropped because the reader was too slow.',
        dropped),
      ...await listProcess(),
      histogram('event_loop_delay_seconds',
        `Delay of a ${EVENT_LOOP_DELAY_SAMPLE_INTERVAL_MS} ms timer; all requests wait this long.`,
        this.#delays.read()),
      gauge('build_info', 'Versions of this program and of Node; always 1.',
        [{ labels: { version: VERSION, node: process.version }, value: 1 }]),
    ];
  }

  #listRequests(): MetricFamily[] {
    const routes = [...this.#routes];
    const byRoute = (read: (metrics: RouteMetrics) => number) => samplesBy('route',
      Object.fromEntries(routes.map(([route, metrics]) => [route, read(metrics)])));
    return [
      counter('http_requests_total', 'Completed requests.',
        routes.flatMap(([, { requests }]) => [...requests.values()])),
      histogram('http_request_duration_seconds',
        'Time from the request headers to the end of the response, including streams.',
        ...routes.map(([route, { durations }]) => ({ labels: { route }, ...durations.read() }))),
      counter('http_response_body_bytes_total', 'Bytes of response bodies sent.',
        byRoute(({ sentBytes }) => sentBytes)),
      counter('http_requests_incomplete_total',
        'Requests whose client disconnected before the whole response was sent.',
        byRoute(({ incomplete }) => incomplete)),
      counter('http_requests_limited_total', 'Requests over a rate limit (429): of a key or its '
        + 'seller, of the portal, or of an address whose authentications failed.',
        samplesBy('limit', this.#limited)),
    ];
  }
}

/** Whose limit a request with status 429 was over. */
function findLimit({ keyId, route }: AccessLogEntry): 'key' | 'portal' | 'address' {
  if (keyId !== undefined) return 'key';
  return route.startsWith('/portal') ? 'portal' : 'address';
}

function listLoad({ readLoad }: RunningServer): MetricFamily[] {
  const { requests, streams, imports } = readLoad();
  return [
    gauge('http_requests_in_flight', 'Requests in flight.', requests),
    gauge('http_streams', 'Open streams, and requests that wait for changes.', streams),
    gauge('http_imports', 'Imports and stock files in progress.', imports),
  ];
}

function listConnections({ readConnections }: RunningServer): MetricFamily[] {
  const { open, receivedBytes, sentBytes, unreadable } = readConnections();
  return [
    gauge('http_connections', 'Open connections.', open),
    counter('http_received_bytes_total', 'Bytes received on all connections.', receivedBytes),
    counter('http_sent_bytes_total', 'Bytes sent on all connections.', sentBytes),
    counter('http_unreadable_requests_total',
      'Requests that are not valid HTTP or arrived too slowly; they have no route.', unreadable),
  ];
}

async function listStore({ store }: RunningServer): Promise<MetricFamily[]> {
  const metrics = await store.readMetrics();
  const { disk, pool } = metrics;
  const searchLag = metrics.readSearchLag?.();
  const isFailing = metrics.lastFailure !== undefined || metrics.failure !== undefined;
  return [
    histogram('store_commit_duration_seconds',
      'Duration of commits, including failed ones. A commit may contain many mutations.',
      metrics.commits),
    counter('store_commits_failed_total', 'Failed commits.', metrics.failedCommits),
    gauge('store_last_commit_failed', '1 if the last commit failed.', isFailing ? 1 : 0),
    gauge('store_changes_waiting', 'Mutations waiting for their commit.', metrics.waitingChanges),
    // A store on a database server has no disk here, and one on a disk needs no connections.
    ...disk ? [
      gauge('store_wal_bytes', 'Size of the catalogue\'s write-ahead log.', disk.walBytes),
      gauge('store_disk_free_bytes', 'Free disk space for the data folder.', disk.freeBytes),
      gauge('store_disk_free_inodes', 'Files that the disk of the data folder has room for.',
        disk.freeInodes ?? []),
    ] : [],
    ...searchLag === undefined ? [] : [gauge('store_search_lag_changes',
      'Changes that the search has not read yet. It reads them before a search, and when idle.',
      searchLag)],
    ...pool ? [
      gauge('store_pool_connections', 'Open connections to the database server.', pool.connections),
      gauge('store_pool_waiting', 'Queries and transactions waiting for a connection.',
        pool.waiting),
      histogram('store_round_trip_duration_seconds', 'Duration of the database server\'s answers.',
        pool.roundTrips),
      gauge('store_oldest_transaction_seconds',
        'Age of the oldest open transaction of the database role; it may hold locks.',
        await readOldestTransaction(store) ?? []),
    ] : [],
  ];
}

/** Undefined if the database server does not answer in time. */
function readOldestTransaction(store: RunningServer['store']): Promise<number | undefined> {
  const late = wait(METRICS_QUERY_TIMEOUT_MS, undefined, { ref: false });
  return Promise.race([store.readOldestTransaction?.().catch(() => undefined), late]);
}

async function listProcess(): Promise<MetricFamily[]> {
  const { user, system } = process.cpuUsage();
  const openFiles = await readdir('/proc/self/fd').catch(() => undefined); // a system without it
  const maxFiles = readOpenFileLimit();
  return [
    gauge('process_resident_memory_bytes', 'Resident memory.', process.memoryUsage.rss()),
    counter('process_cpu_seconds_total', 'CPU time of all threads.', (user + system) / 1e6),
    gauge('process_start_time_seconds', 'Unix time when the process started.',
      performance.timeOrigin / 1_000),
    gauge('process_open_fds', 'Open files and sockets.', openFiles?.length ?? []),
    gauge('process_max_fds', 'Limit of open files and sockets.',
      maxFiles === Infinity ? [] : maxFiles),
  ];
}
