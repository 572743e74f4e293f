/**
 * `status`: whether a server can be reached and is ready, and whether a key is valid. Without a key
 * it checks the rest, so it can be the health check of a container.
 */
import { styleText } from 'node:util';
import { NotFoundError, PermissionError, SellerClient } from '../../client/index.ts';
import { sendForJson } from '../../client/sender.ts';
import { Transport } from '../../client/transport.ts';
import { STATUS_TIMEOUT_MS } from './limits.ts';
import { CommandFailure, UsageError } from '../command.ts';
import { printable } from '../printable.ts';
import { explainFailure } from './api-error.ts';
import { findPosition, findServer, remoteCommand } from './client.ts';

interface Check {
  readonly name: 'server' | 'ready' | 'key';
  readonly status: 'ok' | 'fault';
  readonly detail: string;
}

export const showStatus = remoteCommand({
  summary: 'Checks that a server responds and is ready, and that your key, if any, is valid.',
  async run(input) {
    const { isJson, out, io } = input;
    const { url, key } = findServer(input);
    const options = { baseUrl: url, timeoutMs: STATUS_TIMEOUT_MS, retries: 0 };
    const server = new Transport(options);
    const checks = [await check('server', () => describeServer(server, url))];
    if (checks[0]?.status === 'ok') {
      checks.push(await check('ready', async () => {
        await sendForJson(server, { method: 'GET', path: '/readyz' });
        return 'can read and write';
      }));
      const client = key && new SellerClient({ ...options, key });
      if (client) checks.push(await check('key', () => describeKey(client)));
    }
    const faults = checks.filter(({ status }) => status === 'fault');
    const status = faults.length > 0 ? 'fault' : 'ok';
    if (isJson) out(JSON.stringify({ url, status, checks }));
    else {
      const good = checks.filter((result) => !faults.includes(result));
      const ok = styleText('green', 'ok', { stream: io.stdout });
      for (const { name, detail } of good) out(`${ok}  ${name.padEnd(6)}  ${detail}`);
    }
    if (faults.length === 0) return;
    throw new CommandFailure(faults.map(({ name, detail }) => `${name}: ${detail}`).join(' '));
  },
});

async function check(name: Check['name'], work: () => Promise<string>): Promise<Check> {
  try {
    return { name, status: 'ok', detail: await work() };
  } catch (error) {
    const failure = explainFailure(error);
    const isExpected = failure instanceof CommandFailure || failure instanceof UsageError;
    if (!isExpected) throw failure;
    return { name, status: 'fault', detail: failure.message };
  }
}

async function describeServer(server: Transport, url: string): Promise<string> {
  const request = { method: 'GET', path: '/healthz' } as const;
  const health = await sendForJson<{ status?: unknown }>(server, request)
    .catch((error: unknown) => {
      if (error instanceof NotFoundError) return undefined; // perhaps it has another base URL
      throw error;
    });
  if (health?.status !== 'alive') {
    throw new CommandFailure(`${url} responds, but not like a Seller Product API server.`
      + ' Is --url right, with its path?');
  }
  return [url, await findVersion(server)].filter(Boolean).join(', ');
}

/** The version of the API; empty if the server does not describe it. */
async function findVersion(server: Transport): Promise<string> {
  try {
    const { info } = await sendForJson<{ info?: { version?: unknown } }>(server, {
      method: 'GET', path: '/api/v1/openapi.json',
    });
    return `API version ${printable(info?.version)}`;
  } catch (error) {
    if (error instanceof NotFoundError) return '';
    throw error;
  }
}

async function describeKey(client: SellerClient): Promise<string> {
  try {
    return `valid, for a catalogue at position ${await findPosition(client)}`;
  } catch (error) {
    if (error instanceof PermissionError) return 'valid, without the scope products:read';
    throw error;
  }
}
