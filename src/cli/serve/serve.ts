/**
 * `serve`: runs the app behind its listeners until SIGTERM or SIGINT, then drains: accepts no new
 * requests, finishes those in flight and closes the store.
 */
import { once } from 'node:events';
import {
  DEFAULT_RATE_LIMIT_PER_MINUTE, RATE_LIMIT_PER_MINUTE_MAX, SELLER_RATE_LIMIT_FACTOR,
} from '../../api/limits.ts';
import {
  DEFAULT_HISTORY_DAYS, HISTORY_DAYS_LIMIT, STOP_DEADLINE_MS,
} from '../limits.ts';
import { createApp } from '../../features.ts';
import type { Store } from '../../store/store.ts';
import { type Command, type Input, setting } from '../command.ts';
import { describeFirstSteps } from './first-steps.ts';
import { startRetentionJob } from './retention.ts';
import { backupFlags, listBackupMetrics, readBackups } from './backups.ts';
import { listeningFlags, readListening } from './listening.ts';
import { readTrustedProxies } from './listen-addresses.ts';
import { featureFlags, loadFeatures } from './served-features.ts';
import { readNumber, readSwitch } from '../settings.ts';
import { withNewStore } from '../with-store.ts';

export const serve: Command = {
  summary: 'Serves the API until SIGTERM or SIGINT.',
  flags: {
    ...listeningFlags,
    'rate-limit': setting('N',
      `requests per minute and key; 0 is off (default: ${DEFAULT_RATE_LIMIT_PER_MINUTE})`),
    'seller-rate-limit': setting('N', 'requests per minute with all keys of a seller; 0 is off '
      + `(default: ${SELLER_RATE_LIMIT_FACTOR} times --rate-limit)`),
    'history-days': setting('N',
      `days to keep the history; 0 keeps it forever (default: ${DEFAULT_HISTORY_DAYS})`),
    'allow-browsers': { help: 'accept keys from web pages (see SECURITY.md)', isSetting: true },
    ...backupFlags,
    ...featureFlags,
  },
  async run(input) {
    const { flags, dataFolder } = input;
    const trustedProxies = readTrustedProxies(input);
    const listening = readListening(input, trustedProxies);
    const { baseUrl } = listening;
    const rateLimitPerMinute = readNumber(
      flags, 'rate-limit', DEFAULT_RATE_LIMIT_PER_MINUTE, RATE_LIMIT_PER_MINUTE_MAX,
    );
    const sellerRateLimitPerMinute = readNumber(
      flags, 'seller-rate-limit', rateLimitPerMinute * SELLER_RATE_LIMIT_FACTOR,
      RATE_LIMIT_PER_MINUTE_MAX,
    );
    const historyDays = readNumber(flags, 'history-days', DEFAULT_HISTORY_DAYS, HISTORY_DAYS_LIMIT);
    const allowBrowsers = readSwitch(flags, 'allow-browsers');
    const startBackups = readBackups(input);
    const features = await loadFeatures(input, baseUrl);
    const { operator } = features;
    const { note, warn } = operator;
    const stopped = waitForStopSignal();
    await withNewStore(dataFolder, async (store) => {
      const running = features.start(store);
      try {
        const app = createApp({
          store, rateLimitPerMinute, sellerRateLimitPerMinute, allowBrowsers, trustedProxies,
          report: operator.report, ...running.options,
          get onRequestComplete() { return operator.onRequestComplete; },
          ...(baseUrl !== undefined && { baseUrl }),
        });
        const listener = await listening.open(app, operator);
        const stopRetention = startRetentionJob(store, historyDays, warn);
        const backups = startBackups(operator);
        try {
          await running.observe({
            store, inFlightCount: app.inFlightCount, readConnections: listener.readMetrics,
            listMetrics: () => [...running.listMetrics(), ...listBackupMetrics(backups)],
          });
          const { pathname } = new URL(`${listener.url}/portal/join`);
          const hasPortal = app.findMethods(pathname).length > 0;
          await announce(input, listener.url, { store, hasPortal });
          for (const warning of listener.warnings) warn(warning);
          await stopped;
        } finally {
          stopRetention();
          const ended = Promise.all([
            listener.stop(), app.close(), running.stop(), backups?.stop(),
          ]);
          note('Stopping: finishing requests in flight.');
          setTimeout(() => process.exit(1), STOP_DEADLINE_MS).unref();
          await ended;
        }
      } finally {
        await running.stop();
      }
    });
    note('Stopped.');
    await operator.close?.();
  },
};

async function announce(
  { isJson, out, note, dataFolder }: Input, url: string,
  { store, hasPortal }: { readonly store: Store; readonly hasPortal: boolean },
): Promise<void> {
  out(isJson ? JSON.stringify({ url, pid: process.pid }) : `Listening on ${url}`);
  const steps = await describeFirstSteps({ store, url, dataFolder, hasPortal });
  if (steps !== undefined) note(steps);
}

function waitForStopSignal(): Promise<unknown> {
  return Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
}
