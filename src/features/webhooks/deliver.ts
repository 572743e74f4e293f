/**
 * One attempt to send a message: resolves the name once, checks its addresses, and sends one
 * request to one of them. Follows no redirects, and keeps only the beginning of the response. Never
 * sends a key or another secret of this server: the signature proves knowledge of the webhook
 * secret.
 */
import type { OutgoingHttpHeaders } from 'node:http';
import { request as requestTls, type RequestOptions } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { WEBHOOK_RESPONSE_LIMIT_BYTES } from './limits.ts';
import type { Webhook } from '../../domain/webhooks/webhook.ts';
import type { WebhookExchange, WebhookResult } from '../../domain/webhooks/webhook-attempt.ts';
import { HEADER_LIMIT_BYTES } from '../../http/limits.ts';
import { request as requestPlain } from '../../runtime/node-http.ts';
import { findErrorCode } from '../../runtime/system-error.ts';
import type { DnsResolver } from './dns-resolver.ts';
import { describeRequest, recordResponse, type SentRequest } from './exchange.ts';
import { type Address, hostOf, resolveTarget, type TargetPolicy } from './ssrf-guard.ts';

export interface DeliveryOptions {
  readonly policy: TargetPolicy;
  readonly resolver: DnsResolver;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** For the whole attempt, from the DNS lookup to the end of the response. */
  readonly timeoutMs: number;
  /** Aborts the attempt. */
  readonly stop: AbortSignal;
}

interface Post {
  readonly body: string;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly signal: AbortSignal;
  /** Called with all headers once there is a connection to send them on. */
  readonly onConnect: (headers: OutgoingHttpHeaders) => void;
}

interface Response {
  readonly status: number;
  readonly record: WebhookExchange['response'];
}

/**
 * Sends `body` with the headers that sign it. Returns undefined if the attempt was aborted, which
 * says nothing about the endpoint.
 */
export async function deliver(
  webhook: Pick<Webhook, 'sellerId' | 'url' | 'failures'>, body: string,
  signature: Readonly<Record<string, string>>, options: DeliveryOptions,
): Promise<WebhookResult | undefined> {
  const { stop, timeoutMs, resolver } = options;
  const at = options.clock();
  const startedAt = performance.now();
  const url = new URL(webhook.url);
  const headers = {
    'content-type': 'application/json', 'content-length': Buffer.byteLength(body),
    'user-agent': 'seller-product-api', ...signature,
  };
  let request: SentRequest | undefined;
  const onConnect = (sentHeaders: OutgoingHttpHeaders): void => {
    request = describeRequest(url, sentHeaders, body);
  };
  const finish = (outcome: string, response?: Response): WebhookResult => ({
    at, durationMs: Math.round(performance.now() - startedAt), status: response?.status, outcome,
    exchange: request && { ...request, response: response?.record },
  });
  const deadline = new AbortController();
  using _timer = setTimeout(() => deadline.abort(), timeoutMs);
  const signal = AbortSignal.any([deadline.signal, stop]);
  try {
    const requester = { sellerId: webhook.sellerId, isFailing: webhook.failures > 0 };
    const target = await resolveTarget(url, options.policy, (name) =>
      resolver.resolve(name, requester, signal));
    if ('error' in target) return finish(`not sent: ${target.error}`);
    const response = await post(url, target.addresses, { body, headers, signal, onConnect });
    const { status } = response;
    if (status < 100) return finish(NOT_HTTP); // RFC 9110 section 15
    return finish(isSuccess(status) ? 'delivered' : `responded with ${status}`, response);
  } catch (error) {
    if (stop.aborted) return undefined;
    const timeout = `timed out after ${timeoutMs / 1000} s`;
    return finish(deadline.signal.aborted ? timeout : describeFailure(error));
  }
}

/** @param status Undefined if there was no response */
export function isSuccess(status: number | undefined): boolean {
  return Math.floor((status ?? 0) / 100) === 2;
}

/**
 * Resolves with the response, even if its body fails later. The body is read within limits of size
 * and time.
 */
function post(
  url: URL, addresses: readonly Address[], { body, headers, signal, onConnect }: Post,
): Promise<Response> {
  const host = hostOf(url);
  const options: RequestOptions = {
    method: 'POST', host, port: url.port, path: `${url.pathname}${url.search}`,
    headers,
    agent: false, // a new connection for every attempt, to an address that was just checked
    lookup: lookupAmong(addresses),
    maxHeaderSize: HEADER_LIMIT_BYTES,
    signal,
    rejectUnauthorized: true,
    servername: isIP(host) === 0 ? host : '', // RFC 6066 section 3: no literal addresses
  };
  return new Promise((resolve, reject) => {
    const isTls = url.protocol === 'https:';
    const request = isTls ? requestTls(options) : requestPlain(options);
    request.on('socket', (socket) => socket.once(isTls ? 'secureConnect' : 'connect', () =>
      onConnect(request.getHeaders())));
    let read: (() => Response) | undefined;
    const finish = (error: Error): void => {
      if (read) resolve(read());
      else reject(error);
    };
    request.on('error', finish);
    request.on('close', () => finish(new Error('The connection was closed without a response.')));
    request.on('response', (response) => {
      const record = recordResponse(response);
      read = () => ({ status: response.statusCode ?? 0, record: record.read() });
      let sizeBytes = 0;
      response.on('data', (chunk: Buffer) => {
        record.add(chunk);
        sizeBytes += chunk.length;
        if (sizeBytes > WEBHOOK_RESPONSE_LIMIT_BYTES) request.destroy();
      });
      response.on('error', finish);
    });
    request.end(body);
  });
}

/** Replaces a second DNS lookup, which could return other addresses. Node tries all of these. */
function lookupAmong(addresses: readonly Address[]): LookupFunction {
  return (_, { all }, callback) => {
    const [first] = addresses;
    if (all) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family);
  };
}

const NOT_HTTP = 'the response is not HTTP';
const NO_RESPONSE = 'the connection was closed without a response';

const FAILURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  ETIMEDOUT: 'connection timed out',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'host unreachable',
  EADDRNOTAVAIL: 'host unreachable',
  ENOTFOUND: 'host name not found',
  EAI_AGAIN: 'DNS lookup failed temporarily',
  EPROTO: 'TLS failed',
  CERT_HAS_EXPIRED: 'certificate expired',
  CERT_NOT_YET_VALID: 'certificate not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate issued for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate chain ends in an unknown root',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate issuer unknown',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate chain incomplete',
};

/**
 * Why an attempt failed, as shown to the seller: derived from the error code only, because an error
 * message may name hosts and addresses of the server's network.
 */
export function describeFailure(error: unknown): string {
  const code = findErrorCode(error) ?? '';
  const description = FAILURES[code];
  if (description !== undefined) return description;
  if (code.startsWith('HPE_')) return NOT_HTTP;
  if (code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS')) return 'TLS failed';
  if (code.includes('CERT')) return `certificate: ${code.toLowerCase().replaceAll('_', ' ')}`;
  return /^[A-Z][A-Z0-9_]{2,60}$/.test(code) ? `failed with ${code}` : NO_RESPONSE;
}
