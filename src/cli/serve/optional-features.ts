/** The parts of the server that can be left out: then nothing of them is read from the disk. */
import { join } from 'node:path';
import type { ErrorReport } from '../../http/response/problem.ts';
import { UPLOADS } from '../../store/sqlite/files/data-folder-files.ts';
import type { Store } from '../../store/store.ts';
import type { Flags, Input } from '../command.ts';
import { readSwitch } from './settings.ts';

export const partFlags: Flags = {
  'no-portal': { help: 'serve no pages for people under /portal', isSetting: true },
  'open-registration': {
    help: 'let anybody who comes to the portal open a shop', isSetting: true,
  },
  'no-webhooks': { help: 'send no webhooks, and answer 404 where they are', isSetting: true },
  'webhook-allow-private': {
    help: 'send webhooks to any address and port (see SECURITY.md)', isSetting: true,
  },
  'webhook-allow-http': { help: 'send webhooks without TLS, too', isSetting: true },
};

/** Undefined where they are switched off. @throws UsageError */
export async function loadWebhooks({ flags }: Input) {
  const isOff = readSwitch('no-webhooks', flags['no-webhooks']);
  const allowPrivate = readSwitch('webhook-allow-private', flags['webhook-allow-private']);
  const allowHttp = readSwitch('webhook-allow-http', flags['webhook-allow-http']);
  if (isOff) return undefined;
  const startWebhooks = (await import('../../features/webhooks/webhooks.ts')).startWebhooks;
  return (store: Store, report: (entry: ErrorReport) => void) =>
    startWebhooks({ store, report, allowPrivate, allowHttp });
}

/** Undefined where it is switched off. @throws UsageError */
export async function loadPortal({ flags, dataFolder }: Input, baseUrl: string | undefined) {
  const isOff = readSwitch('no-portal', flags['no-portal']);
  const openRegistration = readSwitch('open-registration', flags['open-registration']);
  if (isOff) return undefined;
  const createPortal = (await import('../../features/portal/portal.ts')).createPortal;
  const uploadFolder = join(dataFolder, UPLOADS);
  return createPortal({
    openRegistration, uploadFolder, ...(baseUrl !== undefined && { baseUrl }),
  });
}
