/**
 * `webhook listen`: registers a webhook that sends to a port of this machine, verifies and prints
 * its messages, and can forward them to an application under development. The webhook is deleted
 * when the command ends. Messages without a valid signature are rejected.
 */
import { once } from 'node:events';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiError, type SellerClient, type WebhookWithSecret } from '../../client/index.ts';
import {
  verifyWebhook, type WebhookEvent, WebhookVerificationError,
} from '../../client/verify-webhook.ts';
import { collectChunks } from '../../http/request/body.ts';
import { isLoopbackHost } from '../../http/server/tls.ts';
import { createServer } from '../../runtime/node-http.ts';
import { isSystemError } from '../../runtime/system-error.ts';
import { DEFAULT_HOST, PORT_RANGE } from '../limits.ts';
import { WEBHOOK_FORWARD_TIMEOUT_MS, WEBHOOK_MESSAGE_LIMIT_BYTES } from './limits.ts';
import { CommandFailure, type CommandIo, type Input, UsageError } from '../command.ts';
import { printable } from '../printable.ts';
import { interrupted } from '../progress.ts';
import { readNumber, readUrl } from '../settings.ts';
import { formatChange } from './changes.ts';
import { findServer, openClient, remoteCommand } from './client.ts';
import { readTypes, TYPES_FLAG } from './webhook.ts';

const DESCRIPTION = 'seller-api webhook listen';
const FORWARDED = ['content-type', 'webhook-id', 'webhook-timestamp', 'webhook-signature'];

export const listenForWebhooks = remoteCommand({
  summary: 'Receives, verifies and prints webhook messages on this machine, until Ctrl-C.',
  flags: {
    'forward-to': { value: 'URL', help: 'also send each message to your application, unchanged' },
    ...TYPES_FLAG,
    port: {
      value: 'N', range: PORT_RANGE,
      help: `port of ${DEFAULT_HOST} to listen on (default: a free one)`,
    },
    endpoint: {
      value: 'URL', help: 'where the server reaches that port, such as the address of a tunnel',
    },
  },
  isStream: true,
  async run(input) {
    const { flags, note } = input;
    const { webhooks } = openClient(input);
    const forwardTo = readUrl(flags, 'forward-to');
    const endpoint = readUrl(flags, 'endpoint');
    if (endpoint === undefined) assertSameMachine(findServer(input).url);
    const signal = interrupted(input.io);
    let webhook: WebhookWithSecret | undefined;
    const receiver = createServer(createReceiver(input, forwardTo, () => webhook?.secret));
    await startListening(receiver, readNumber(flags, 'port', 0));
    try {
      // The cast: it listens on a port.
      const { port } = receiver.address() as AddressInfo;
      const local = `http://${DEFAULT_HOST}:${port}`;
      webhook = await register(webhooks, endpoint ?? local, input);
      note(`Listening on ${local} for webhook ${webhook.id}. Ctrl-C deletes it.`);
      if (forwardTo !== undefined) {
        note(`Forwarding to ${forwardTo}. The secret of the webhook is ${webhook.secret}`);
      }
      if (!signal.aborted) await once(signal, 'abort');
    } finally {
      receiver.close();
      receiver.closeAllConnections();
      if (webhook) await remove(webhooks, webhook.id);
    }
    note(`Deleted webhook ${webhook.id}.`);
  },
});

/** @throws CommandFailure if the port is taken */
async function startListening(receiver: Server, port: number): Promise<void> {
  receiver.listen(port, DEFAULT_HOST);
  await once(receiver, 'listening').catch((error: unknown) => {
    if (!isSystemError(error, 'EADDRINUSE')) throw error;
    throw new CommandFailure(`Port ${port} is taken. Choose another with --port.`);
  });
}

/** The address of a port here means nothing to another machine. @throws UsageError */
function assertSameMachine(url: string): void {
  if (isLoopbackHost(new URL(url).host)) return;
  throw new UsageError(`${url} is another machine. Give --endpoint URL, an address at which it`
    + ' reaches --port of this one, such as that of a tunnel. Or use "changes tail".');
}

/** @throws CommandFailure if the server sends no webhooks there */
async function register(
  webhooks: SellerClient['webhooks'], url: string, { flags }: Input,
): Promise<WebhookWithSecret> {
  try {
    return await webhooks.create({ url, description: DESCRIPTION, types: readTypes(flags) });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === 'not_found') {
      throw new CommandFailure('The server sends no webhooks (serve --no-webhooks).');
    }
    const issue = error.issues.find(({ pointer }) => pointer === '/url');
    if (!issue) throw error;
    throw new CommandFailure(`The server does not send webhooks to ${url}: ${issue.detail} Start it`
      + ' with --webhook-allow-private --webhook-allow-http, or give --endpoint with the https'
      + ' address of a tunnel to this machine.');
  }
}

async function remove(webhooks: SellerClient['webhooks'], id: string): Promise<void> {
  try {
    await webhooks.delete(id);
  } catch (error) {
    throw new CommandFailure(`Webhook ${id} could not be deleted. Delete it in the portal, or the`
      + ' server retries its messages for five days.', { cause: error });
  }
}

/** Answers the server: with the status of the application, or 204. */
function createReceiver(
  { io, isJson, out, note }: Input, forwardTo: string | undefined,
  findSecret: () => string | undefined,
): RequestListener {
  const receive = async (request: IncomingMessage): Promise<number> => {
    const body = await collectChunks(request, WEBHOOK_MESSAGE_LIMIT_BYTES, () =>
      new WebhookVerificationError('It is too long.')); // for a message of the server
    const event = verifyWebhook(body, request.headers, findSecret() ?? []);
    out(isJson ? JSON.stringify(event) : formatEvent(event, io));
    if (forwardTo === undefined) return 204;
    const status = await forward(forwardTo, request, body);
    note(`${forwardTo} responded with status ${status}.`);
    return status;
  };
  return (request, response) => {
    receive(request).catch((error: unknown) => {
      const isForeign = error instanceof WebhookVerificationError;
      const reason = error instanceof Error ? error.message : String(error);
      note(isForeign ? `Rejected a message: ${reason}` : `${reason} The server will retry.`);
      return isForeign ? 401 : 502;
    }).then((status) => response.writeHead(status).end(), () => response.destroy());
  };
}

function formatEvent(event: WebhookEvent, { stdout }: CommandIo): string {
  if (event.type === 'changes') {
    return event.data.changes.map((change) => formatChange(change, stdout)).join('\n');
  }
  const subject = event.type === 'test' ? 'message' : event.data.sku;
  return printable(`${event.timestamp}  ${event.type} ${subject}`);
}

/** Sends the message to the application, and returns its status. @throws CommandFailure */
async function forward(
  url: string, request: IncomingMessage, body: Buffer<ArrayBuffer>,
): Promise<number> {
  const headers = FORWARDED.map((name) => [name, String(request.headers[name] ?? '')] as const);
  try {
    const response = await fetch(url, {
      method: 'POST', body, headers: Object.fromEntries(headers), redirect: 'manual',
      signal: AbortSignal.timeout(WEBHOOK_FORWARD_TIMEOUT_MS),
    });
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    throw new CommandFailure(`${url} did not respond.`, { cause: error });
  }
}
