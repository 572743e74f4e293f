/**
 * One attempt to send a message: the name resolved once, its addresses checked, one connection to
 * one of those, one request, one status. No redirect is followed and nothing of the answer is kept.
 * No key and no other secret of this server is ever sent; the signature proves a secret without it.
 */
import { request as requestPlain } from 'node:http';
import { request as requestTls, type RequestOptions } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { WEBHOOK_RESPONSE_LIMIT_BYTES } from './limits.ts';
import type { SellerId } from '../../domain/id.ts';
import type { WebhookResult } from '../../domain/webhooks/webhook.ts';
import { HEADER_LIMIT_BYTES } from '../../http/limits.ts';
import type { DnsResolver } from './dns-resolver.ts';
import { describeFailure } from './outcome.ts';
import { type Address, findTarget, hostOf, type TargetPolicy } from './target.ts';

interface Delivery {
  readonly sellerId: SellerId;
  readonly url: string;
  readonly body: string;
  /** The fields that sign the body. */
  readonly fields: Readonly<Record<string, string>>;
  /** Whether the attempt before this one has failed. */
  readonly isFailing: boolean;
}

export interface Sending {
  readonly policy: TargetPolicy;
  readonly lookups: DnsResolver;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** For all of it, from the name to the end of the answer. */
  readonly timeoutMs: number;
  /** Ends the attempt at once. */
  readonly stop: AbortSignal;
}

const USER_AGENT = 'seller-product-api';

/** What came of it; undefined where it was stopped, which says nothing of the endpoint. */
export async function deliver(
  delivery: Delivery, sending: Sending,
): Promise<WebhookResult | undefined> {
  const { stop, timeoutMs } = sending;
  const at = sending.clock();
  const begunAt = performance.now();
  const finish = (status: number | undefined, outcome: string): WebhookResult =>
    ({ at, durationMs: Math.round(performance.now() - begunAt), status, outcome });
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), timeoutMs);
  const signal = AbortSignal.any([deadline.signal, stop]);
  try {
    const url = new URL(delivery.url);
    const target = await findTarget(url, sending.policy, (name) =>
      sending.lookups.resolve(name, delivery, signal));
    if ('error' in target) return finish(undefined, `not sent: ${target.error}`);
    const status = await post(url, target.addresses, delivery, signal);
    if (status < 100) return finish(undefined, 'the answer is not HTTP'); // RFC 9110 section 15
    return finish(status, isSuccess(status) ? 'delivered' : `answered ${status}`);
  } catch (error) {
    if (stop.aborted) return undefined;
    const isLate = deadline.signal.aborted;
    const late = `timed out after ${timeoutMs / 1000} s`;
    return finish(undefined, isLate ? late : describeFailure(error));
  } finally {
    clearTimeout(timer);
  }
}

export function isSuccess(status: number | undefined): boolean {
  return status !== undefined && status >= 200 && status <= 299;
}

/**
 * The status of the answer. It counts once it has come; what follows it is read, as far as the
 * limit and the time go, only to let the other side finish.
 */
function post(
  url: URL, addresses: readonly Address[], { body, fields }: Delivery, signal: AbortSignal,
): Promise<number> {
  const host = hostOf(url);
  const options: RequestOptions = {
    method: 'POST', host, port: url.port, path: `${url.pathname}${url.search}`,
    headers: {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': USER_AGENT,
      ...fields,
    },
    agent: false, // every attempt has a connection of its own, to an address that was just checked
    lookup: answerWith(addresses),
    maxHeaderSize: HEADER_LIMIT_BYTES,
    signal,
    rejectUnauthorized: true,
    servername: isIP(host) === 0 ? host : '', // RFC 6066 section 3: no literal addresses
  };
  return new Promise((resolve, reject) => {
    const request = url.protocol === 'https:' ? requestTls(options) : requestPlain(options);
    let status: number | undefined;
    const finish = (error: Error): void => {
      if (status === undefined) reject(error);
      else resolve(status);
    };
    request.on('error', finish);
    request.on('close', () => finish(new Error('The connection was closed without an answer.')));
    request.on('response', (response) => {
      status = response.statusCode;
      let sizeBytes = 0;
      response.on('data', (chunk: Buffer) => {
        sizeBytes += chunk.length;
        if (sizeBytes > WEBHOOK_RESPONSE_LIMIT_BYTES) request.destroy();
      });
      response.on('error', finish); // of what is thrown away
    });
    request.end(body);
  });
}

/** In place of a second look-up, which might lead elsewhere. Node tries all that it is given. */
function answerWith(addresses: readonly Address[]): LookupFunction {
  return (_, { all }, callback) => {
    const [first] = addresses;
    if (all) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family);
  };
}
