/** All figures of a server, gathered from its parts when somebody asks. */
import type { ConnectionMetrics } from '../../http/server/connections.ts';
import type { StoreMetrics } from '../../store/store-metrics.ts';
import type { Log } from './log.ts';
import type { ProcessMetrics } from './process-metrics.ts';
import { type Family, listSamples, single } from './prometheus.ts';
import type { RequestMetrics } from './request-metrics.ts';

/** What there is to ask. */
interface MetricsSources {
  readonly log: Log;
  readonly requests: RequestMetrics;
  readonly process: ProcessMetrics;
  /** Of this program. */
  readonly version: string;
  readonly server: {
    /** Requests that are not answered yet. */
    inFlightCount(): number;
    readConnections(): ConnectionMetrics;
    readStore(): Promise<StoreMetrics>;
    /** Undefined where none are sent. */
    readonly readWebhooks: (() => WebhookMetrics) | undefined;
    /** Undefined where the server makes none by itself. */
    readonly readBackups: (() => BackupMetrics) | undefined;
  };
}

interface WebhookMetrics {
  readonly inFlight: number;
  /** Attempts so far, by what came of them. */
  readonly attempts: Readonly<Record<string, number>>;
}

/** Of those that a server makes by itself. */
export interface BackupMetrics {
  readonly made: number;
  readonly failed: number;
  /** Milliseconds since 1970: of the newest one, whoever made it; undefined until one is found. */
  readonly newestAt: number | undefined;
}

export async function listFamilies(sources: MetricsSources): Promise<Family[]> {
  const { log, requests, server, version } = sources;
  const { written, dropped } = log.readMetrics();
  return [
    ...requests.list(),
    single('http_requests_in_flight', 'gauge', 'Requests that are not answered yet.',
      server.inFlightCount()),
    ...listConnections(server.readConnections()),
    ...listStore(await server.readStore()),
    ...server.readWebhooks ? listWebhooks(server.readWebhooks()) : [],
    ...server.readBackups ? listBackups(server.readBackups()) : [],
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
): Family[] {
  return [
    single('http_connections', 'gauge', 'Connections that are open.', open),
    single('http_received_bytes_total', 'counter', 'Bytes that connections brought.',
      receivedBytes),
    single('http_sent_bytes_total', 'counter', 'Bytes that connections were given.', sentBytes),
    single('http_unreadable_requests_total', 'counter',
      'Requests that are not HTTP, or too long in coming: they have no route.', unreadable),
  ];
}

function listStore(figures: StoreMetrics): Family[] {
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

function listWebhooks({ attempts, inFlight }: WebhookMetrics): Family[] {
  return [
    {
      name: 'webhook_attempts_total', type: 'counter', help: 'Attempts to send a message.',
      samples: Object.entries(attempts).map(([outcome, value]) => ({ labels: { outcome }, value })),
    },
    single('webhook_deliveries_in_flight', 'gauge', 'Endpoints being sent to.', inFlight),
  ];
}

function listBackups({ made, failed, newestAt }: BackupMetrics): Family[] {
  return [
    {
      name: 'backups_total', type: 'counter', help: 'Backups that this server has begun.',
      samples: Object.entries({ made, failed }).map(([outcome, value]) =>
        ({ labels: { outcome }, value })),
    },
    single('backup_newest_timestamp_seconds', 'gauge',
      'When the newest backup was made, by whichever process; 0 where none is known of.',
      (newestAt ?? 0) / 1000),
  ];
}
