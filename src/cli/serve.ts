/** `serve`: the app, a listener and the signals that stop them. */
import { once } from 'node:events';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { createApp } from '../app.ts';
import {
  DEFAULT_HISTORY_DAYS, DEFAULT_HOST, DEFAULT_PORT, DEFAULT_RATE_LIMIT_PER_MINUTE,
  HISTORY_DAYS_LIMIT, RATE_LIMIT_PER_MINUTE_LIMIT, STOP_DEADLINE_MS,
} from '../config.ts';
import { isAddressInRanges } from '../domain/address.ts';
import { listen } from '../http/listener.ts';
import type { Store } from '../store/store.ts';
import { type Command, CommandFailure, type Input, UsageError } from './command.ts';
import { describeFirstSteps } from './first-steps.ts';
import { limitHistory } from './history-age.ts';
import { withStore } from './with-store.ts';

const LOOPBACK = ['127.0.0.0/8', '::1/128'];

export const serve: Command = {
  summary: 'Serves the API until it is told to stop (SIGTERM or SIGINT).',
  operands: [],
  flags: {
    host: { value: 'ADDRESS', help: `where to listen (default: ${DEFAULT_HOST})`, isSetting: true },
    port: { value: 'N', help: `0 finds a free one (default: ${DEFAULT_PORT})`, isSetting: true },
    'base-url': {
      value: 'URL', help: 'where clients find it (default: http://HOST:PORT)', isSetting: true,
    },
    'rate-limit': {
      value: 'N', isSetting: true,
      help: `requests a minute for each key, 0 is off (default: ${DEFAULT_RATE_LIMIT_PER_MINUTE})`,
    },
    'history-days': {
      value: 'N', isSetting: true,
      help: `days that the history is kept, 0 is for ever (default: ${DEFAULT_HISTORY_DAYS})`,
    },
    'allow-browsers': { help: 'accept keys from web pages (see SECURITY.md)', isSetting: true },
    'no-portal': { help: 'serve no pages for people under /portal', isSetting: true },
    'open-registration': {
      help: 'let anybody who comes to the portal open a shop', isSetting: true,
    },
    'no-webhooks': { help: 'send no webhooks, and answer 404 where they are', isSetting: true },
    'webhook-allow-private': {
      help: 'send webhooks to any address and port (see SECURITY.md)', isSetting: true,
    },
    'webhook-allow-http': { help: 'send webhooks without TLS, too', isSetting: true },
  },
  async run(input) {
    const { flags, dataFolder, note } = input;
    const host = flags['host'] ?? DEFAULT_HOST;
    const port = readNumber('port', flags['port'], DEFAULT_PORT, 65_535);
    const rateLimitPerMinute = readNumber(
      'rate-limit', flags['rate-limit'], DEFAULT_RATE_LIMIT_PER_MINUTE, RATE_LIMIT_PER_MINUTE_LIMIT,
    );
    const historyDays = readNumber(
      'history-days', flags['history-days'], DEFAULT_HISTORY_DAYS, HISTORY_DAYS_LIMIT,
    );
    const baseUrl = readBaseUrl(flags['base-url']);
    const allowBrowsers = readSwitch('allow-browsers', flags['allow-browsers']);
    const startWebhooks = await loadWebhooks(input);
    const portal = await loadPortal(input, baseUrl);
    const stopped = waitForStopSignal();
    await withStore(dataFolder, async (store) => {
      const webhooks = startWebhooks?.(store);
      try {
        const app = createApp({
          store, rateLimitPerMinute, allowBrowsers, ...(webhooks && { webhooks }),
          ...(portal && { portal }), ...(baseUrl !== undefined && { baseUrl }),
        });
        const listener = await listen(app.handle, host, port).catch(explainPort(port));
        const stopLimiting = limitHistory(store, historyDays, note);
        const url = baseUrl ?? `http://${isIP(host) === 6 ? `[${host}]` : host}:${listener.port}`;
        try {
          await announce(input, url, host, { store, hasPortal: portal !== undefined });
          await stopped;
        } finally {
          stopLimiting();
          const ended = Promise.all([listener.stop(), app.close(), webhooks?.close()]);
          note('Stopping: answering what is under way.');
          setTimeout(() => process.exit(1), STOP_DEADLINE_MS).unref();
          await ended;
        }
      } finally {
        await webhooks?.close();
      }
    });
    note('Stopped.');
  },
};

/** Undefined where they are switched off: then nothing of them is even read from the disk. */
async function loadWebhooks({ flags }: Input) {
  const isOff = readSwitch('no-webhooks', flags['no-webhooks']);
  const allowPrivate = readSwitch('webhook-allow-private', flags['webhook-allow-private']);
  const allowHttp = readSwitch('webhook-allow-http', flags['webhook-allow-http']);
  if (isOff) return undefined;
  const startWebhooks = (await import('../webhooks/webhooks.ts')).startWebhooks;
  return (store: Store) => startWebhooks({ store, allowPrivate, allowHttp });
}

/** Undefined where it is switched off: as with webhooks, nothing of it is loaded then. */
async function loadPortal({ flags, dataFolder }: Input, baseUrl: string | undefined) {
  const isOff = readSwitch('no-portal', flags['no-portal']);
  const openRegistration = readSwitch('open-registration', flags['open-registration']);
  if (isOff) return undefined;
  const createPortal = (await import('../portal/portal.ts')).createPortal;
  const uploadFolder = join(dataFolder, 'uploads');
  return createPortal({
    openRegistration, uploadFolder, ...(baseUrl !== undefined && { baseUrl }),
  });
}

function explainPort(port: number): (error: unknown) => never {
  return (error) => {
    const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    if (!isTaken) throw error;
    throw new CommandFailure(`Port ${port} is taken. Choose another with --port.`);
  };
}

async function announce(
  { isJson, out, note, dataFolder }: Input, url: string, host: string,
  { store, hasPortal }: { readonly store: Store; readonly hasPortal: boolean },
): Promise<void> {
  const isLoopback = host === 'localhost' || isAddressInRanges(host, LOOPBACK);
  out(isJson ? JSON.stringify({ url, pid: process.pid }) : `Listening on ${url}`);
  if (!isLoopback) note('This address is not encrypted: put a server that speaks TLS before it.');
  const steps = await describeFirstSteps({ store, url, dataFolder, hasPortal });
  if (steps !== undefined) note(steps);
}

function waitForStopSignal(): Promise<unknown> {
  return Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
}

function readNumber(
  flag: string, text: string | undefined, fallback: number, limit: number,
): number {
  if (text === undefined) return fallback;
  const number = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  if (number <= limit) return number;
  throw new UsageError(`--${flag} takes a whole number from 0 to ${limit}, not "${text}".`);
}

function readBaseUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  const isPlain = url !== null && !url.search && !url.hash && !url.username;
  if (isPlain && /^https?:$/.test(url.protocol)) return text.replace(/\/+$/, '');
  throw new UsageError(`--base-url takes an address such as https://shop.example, not "${text}".`);
}

function readSwitch(flag: string, text: string | undefined): boolean {
  if (text === undefined || text === 'false' || text === '0') return false;
  if (text === 'true' || text === '1') return true;
  throw new UsageError(`--${flag} is true or false, not "${text}".`);
}
