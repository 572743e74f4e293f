/**
 * `serve`: runs the app behind its listeners until SIGTERM or SIGINT, then drains: accepts no new
 * requests, finishes those in flight and closes the store. Features add their settings, workers and
 * metrics; `src/features.ts` lists them.
 */
import { closeSync, existsSync, openSync, realpathSync } from 'node:fs';
import { constants } from 'node:os';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { DEFAULT_RATE_LIMIT_PER_MINUTE, SELLER_RATE_LIMIT_FACTOR } from '../../api/limits.ts';
import { RATE_LIMIT_PER_MINUTE_MAX } from '../../domain/limits.ts';
import { DEFAULT_HISTORY_DAYS, HISTORY_DAYS_LIMIT, STOP_DEADLINE_MS } from '../limits.ts';
import type { App } from '../../app.ts';
import type { LoadedFeature, Operator, RunningServer } from '../../feature.ts';
import { type AppOptions, createApp, features } from '../../features.ts';
import { safeErrorReporter } from '../../http/response/problem.ts';
import type { StoreLocation } from '../../store/open-store.ts';
import type { Store } from '../../store/store.ts';
import { type Command, CommandFailure, type CommandIo, type Input, setting } from '../command.ts';
import { startRetentionJob } from './retention.ts';
import { backupFlags, listBackupMetrics, readBackups } from './backups.ts';
import { listeningFlags, readListening } from './listening.ts';
import { notifySystemd, readTrustedProxies } from './listen-addresses.ts';
import { formatLocation, getFolder } from '../location.ts';
import { listProgram } from '../node-runtime.ts';
import { readNumber, readSettingFile, readSwitch } from '../settings.ts';
import { withNewStore } from '../with-store.ts';

export const serve: Command = {
  summary: 'Serves the API until SIGTERM or SIGINT.',
  flags: {
    ...listeningFlags,
    'rate-limit': setting('N',
      `requests per minute and key; 0 is off (default: ${DEFAULT_RATE_LIMIT_PER_MINUTE})`,
      [0, RATE_LIMIT_PER_MINUTE_MAX]),
    'seller-rate-limit': setting('N', 'requests per minute across all keys of a seller; 0 is off '
      + `(default: ${SELLER_RATE_LIMIT_FACTOR} times --rate-limit)`,
      [0, RATE_LIMIT_PER_MINUTE_MAX]),
    'history-days': setting('N',
      `days to keep the history; 0 keeps it forever (default: ${DEFAULT_HISTORY_DAYS})`,
      [0, HISTORY_DAYS_LIMIT]),
    'allow-browsers': { help: 'accept keys from web pages (see SECURITY.md)', isSetting: true },
    'high-water-file': setting('FILE', 'second mark of how far the catalogue has come, outside the'
      + ' data folder, to notice an older copy of it (see backup/README.md)'),
    ...backupFlags,
    ...Object.assign({}, ...features.map(({ server }) => server?.settings)),
  },
  async run(input) {
    const { flags, location } = input;
    const stopped = stopRequested(input.io);
    const trustedProxies = readTrustedProxies(input);
    const listening = readListening(input, trustedProxies);
    const { baseUrl } = listening;
    const accessOptions = readAccessOptions(flags);
    const historyDays = readNumber(flags, 'history-days', DEFAULT_HISTORY_DAYS);
    const startBackups = readBackups(input);
    const loaded = await loadFeatures(input, baseUrl);
    const operator = loaded.find((feature) => feature.operator)?.operator ?? plainOperator(input);
    const highWaterFile = readHighWaterFile(input);
    await withNewStore(location, async (store) => {
      const running = startFeatures(loaded, store, operator);
      const stops: (() => unknown)[] = [running.stop];
      try {
        const app = createApp({
          store, ...accessOptions, trustedProxies, report: operator.report, ...running.options,
          get onRequestComplete() { return operator.onRequestComplete; },
          onSecurityEvent: operator.onSecurityEvent,
          ...(baseUrl !== undefined && { baseUrl }),
        });
        stops.unshift(app.close);
        const listener = await listening.open(app, operator);
        stops[0] = () => drain(app, listener);
        stops.push(startRetentionJob(store, historyDays, operator.warn));
        const backups = startBackups(operator);
        if (backups) stops.push(backups.stop);
        void store.lost?.then(() => backups?.stop()); // its folder could have another catalogue
        await running.observe({
          store, readConnections: listener.readMetrics, readLoad: () => readLoad(app),
          listMetrics: () => [
            ...running.listMetrics(), ...listBackupMetrics(backups), ...listener.listMetrics(),
          ],
        });
        const { url } = listener;
        input.out(input.isJson ? JSON.stringify({ url, pid: process.pid }) : `Listening on ${url}`);
        const [seller] = await store.listSellers({ after: undefined, limit: 1 });
        if (!seller) {
          input.note(await running.describeFirstSteps(url, formatFirstSteps(url, location)));
        }
        const { warnings = [] } = await store.readMetrics();
        [...listener.warnings, ...warnings].forEach(operator.warn);
        notifySystemd(input, operator, 'READY=1');
        await stopped;
        notifySystemd(input, operator, 'STOPPING=1');
        operator.note('Stopping: finishing requests in flight.');
      } finally {
        setTimeout(() => process.exit(1), STOP_DEADLINE_MS).unref();
        await Promise.all(stops.map((stop) => stop()));
      }
    }, highWaterFile);
    operator.note('Stopped.');
    await operator.close?.();
  },
};

/** Who may send requests, and how many. @throws UsageError */
function readAccessOptions(flags: Input['flags']) {
  const rateLimitPerMinute = readNumber(flags, 'rate-limit', DEFAULT_RATE_LIMIT_PER_MINUTE);
  const sellerRateLimitPerMinute = readNumber(
    flags, 'seller-rate-limit', rateLimitPerMinute * SELLER_RATE_LIMIT_FACTOR);
  const allowBrowsers = readSwitch(flags, 'allow-browsers');
  return { rateLimitPerMinute, sellerRateLimitPerMinute, allowBrowsers };
}

/** @throws CommandFailure if it cannot be used; AppError `invalid_data` for a database */
function readHighWaterFile({ flags, location }: Input): string | undefined {
  const file = flags['high-water-file'] && resolve(flags['high-water-file']);
  if (!file) return undefined;
  if (resolveLinks(file).startsWith(resolveLinks(getFolder(location)) + sep)) {
    throw new CommandFailure('--high-water-file must name a file outside of the data folder.');
  }
  try {
    closeSync(openSync(file, 'r+'));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(`--high-water-file: ${reason}. Mount its disk; if the file is new, `
      + 'create it empty, for the user of this command to read and write.');
  }
  return file;
}

/** A path without symbolic links, also of what is missing. */
function resolveLinks(path: string): string {
  return existsSync(path) ? realpathSync(path) : join(resolveLinks(dirname(path)), basename(path));
}

function readLoad({ inFlightCount, context: { streams, imports } }: App) {
  return { requests: inFlightCount(), streams: streams.count, imports: imports.count };
}

/**
 * Resolves at SIGTERM or SIGINT. Further ones are ignored; but a second SIGINT, a person's, ends
 * the process at once.
 */
function stopRequested(io: CommandIo): Promise<unknown> {
  return new Promise((resolve) => {
    io.on('SIGTERM', resolve);
    io.once('SIGINT', (signal) => {
      resolve(signal);
      io.once('SIGINT', () => process.exit(128 + constants.signals.SIGINT));
    });
  });
}

/** Answers what has arrived, and rejects what comes later. */
async function drain(app: App, listener: { stop(): Promise<void> }): Promise<void> {
  app.drain();
  await listener.stop();
  await app.close();
}

/** Loads the enabled features. @throws UsageError, AppError, CommandFailure */
async function loadFeatures(
  input: Input, baseUrl: string | undefined,
): Promise<LoadedFeature<Partial<AppOptions>>[]> {
  const { flags, location } = input;
  const plain = plainOperator(input);
  const settings = {
    dataFolder: 'folder' in location ? location.folder : undefined,
    baseUrl,
    readText: (name: string) => flags[name],
    readSwitch: (name: string) => readSwitch(flags, name),
    readNumber: (name: string) =>
      (flags[name] === undefined ? undefined : readNumber(flags, name, 0)),
    readFile: (name: string) =>
      (flags[name] === undefined ? undefined : readSettingFile(flags[name]).text),
  };
  const loaded = [];
  for (const { server } of features) loaded.push(await server?.load(settings, plain) ?? {});
  return loaded;
}

/** Starts the workers of the features. */
function startFeatures(
  loaded: readonly LoadedFeature<Partial<AppOptions>>[], store: Store, operator: Operator,
) {
  const running = loaded.flatMap((feature) => feature.start?.(store, operator) ?? []);
  const options: Partial<AppOptions> =
    Object.assign({}, ...running.map((feature) => feature.options));
  return {
    options,
    listMetrics: () => running.flatMap((feature) => feature.listMetrics?.() ?? []),
    async describeFirstSteps(url: string, commands: string): Promise<string> {
      const [describe] = running.flatMap(({ firstSteps }) => firstSteps ?? []);
      return await describe?.(url, commands) ?? `The database is empty. To start, ${commands}`;
    },
    async observe(server: RunningServer): Promise<void> {
      for (const feature of running) await feature.observe?.(server);
    },
    stop: () => Promise.all(running.map((feature) => feature.stop?.())),
  };
}

/** Prints notices as text, and each error as a JSON line. */
function plainOperator({ note }: Input): Operator {
  return { note, warn: note, report: safeErrorReporter(undefined) };
}

/** The steps on the command line, to type in another terminal. */
function formatFirstSteps(url: string, location: StoreLocation): string {
  const program = listProgram(process.argv[1] ?? '').map(shorten).join(' ');
  const data = ['', ...formatLocation(location, quote)].join(' ');
  return `in another terminal, in this folder, type:

  ${program} seller create "My shop"${data}
  KEY=$(${program} key create --name "My first key"${data})
  curl ${url}/api/v1/products -H "x-api-key: $KEY" -H "content-type: application/json" \\
    -d '{"name":"Blue mug","category":"Kitchen","sku":"MUG-1","price":12,"stock":40}'
  curl ${url}/api/v1/products -H "x-api-key: $KEY"
`;
}

function shorten(path: string): string {
  const short = relative('', path);
  if (short.startsWith('..')) return quote(path);
  return quote(short.includes('/') ? short : `./${short}`); // a bare name is looked up in PATH
}

function quote(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
