/** All figures of a server, gathered from its parts when somebody asks. */
import type { ConnectionMetrics } from '../../http/server/connections.ts';
import type { StoreMetrics } from '../../store/maintenance-store.ts';
import type { Log } from './log.ts';
import type { ProcessMetrics } from './process-metrics.ts';
import type { RunningServer } from '../../feature.ts';
import { type MetricFamily, single } from '../../runtime/metric-family.ts';
import { listSamples } from './prometheus.ts';
import type { RequestMetrics } from './request-metrics.ts';

/** What there is to ask. */
interface MetricsSources {
  readonly log: Log;
  readonly requests: RequestMetrics;
  readonly process: ProcessMetrics;
  /** Of this program. */
  readonly version: string;
  readonly server: RunningServer;
}

export async function listFamilies(sources: MetricsSources): Promise<MetricFamily[]> {
  const { log, requests, server, version } = sources;
  const { written, dropped } = log.readMetrics();
  return [
    ...requests.list(),
    single('http_requests_in_flight', 'gauge', 'Requests that are not answered yet.',
      server.inFlightCount()),
    ...listConnections(server.readConnections()),
    ...listStore(await server.store.readMetrics()),
    ...server.listMetrics(),
    single('log_lines_total', 'counter', 'Lines of the log that were written.', written),
    single('log_lines_dropped_total', 'counter', 'Lines that nobody took in time.', dropped),
    ...await sources.process.list(),
    {
      name: 'build_info', type: 'gauge', help: 'Always 1: what this server is made of.',
      samples: [{ labels: { version, node: process.version }, value: 1 }],
    },
  ];
}

function listConnections(
  { open, receivedBytes, sentBytes, unreadable }: ConnectionMetrics,
): MetricFamily[] {
  return [
    single('http_connections', 'gauge', 'Connections that are open.', open),
    single('http_received_bytes_total', 'counter', 'Bytes that connections brought.',
      receivedBytes),
    single('http_sent_bytes_total', 'counter', 'Bytes that connections were given.', sentBytes),
    single('http_unreadable_requests_total', 'counter',
      'Requests that are not HTTP, or too long in coming: they have no route.', unreadable),
  ];
}

function listStore(figures: StoreMetrics): MetricFamily[] {
  const { commits, failedCommits, waitingChanges, lastFailure, walBytes, freeBytes } = figures;
  const isFailing = lastFailure !== undefined || !figures.canWrite;
  return [
    {
      name: 'store_commit_duration_seconds', type: 'histogram',
      help: 'Time of a commit, which many changes may share; failed ones among them.',
      samples: listSamples(commits),
    },
    single('store_commits_failed_total', 'counter', 'Commits that failed.', failedCommits),
    single('store_last_commit_failed', 'gauge', '1 where the last commit failed.',
      isFailing ? 1 : 0),
    single('store_changes_waiting', 'gauge', 'Changes that are not committed yet.',
      waitingChanges),
    single('store_log_bytes', 'gauge', 'Size of the write-ahead log of the catalogue.', walBytes),
    single('store_disk_free_bytes', 'gauge', 'What the disk of the data folder has left.',
      freeBytes),
  ];
}
