/**
 * What a plain HTTP port beside a TLS port responds: a redirect to the operator's configured host,
 * never to one that a request names. It processes nothing: whatever arrives here crossed the
 * network unencrypted, and a client that was merely redirected would not notice.
 */
import type { IncomingMessage, RequestListener } from 'node:http';
import { LingeringConnections } from './lingering-close.ts';
import { replyWithProblem } from '../response/problem.ts';
import { type Reply, sendReply } from '../response/reply.ts';

/** The start of an API key, anywhere in a text. */
const KEY = /spk_[0-9A-Za-z]{20}/;

/** Redirects to the same target at `origin`, such as `https://shop.example`. */
export function createRedirect(origin: string): RequestListener {
  const lingering = new LingeringConnections();
  return (request, response) => {
    const reply = toReply(request, origin);
    lingering.lingerAfter(response, reply);
    void sendReply(response, reply);
  };
}

function toReply(request: IncomingMessage, origin: string): Reply {
  const { method, url = '' } = request;
  if (hasKey(request)) {
    return reject('This API key was sent without TLS, so anyone on the network path may have it.'
      + ` Revoke it, create another one, and send that only to ${origin}.`);
  }
  if (method !== 'GET' && method !== 'HEAD') {
    return reject('This request was sent without TLS, and nothing of it was processed. If it held'
      + ` a secret, change the secret. Send requests to ${origin}.`);
  }
  // Concatenated, not resolved: a target such as "//evil.example" would redirect elsewhere.
  const location = url.startsWith('/') ? URL.parse(origin + url)?.href : undefined;
  return {
    status: 308,
    headers: {
      location: location ?? `${origin}/`, 'cache-control': 'no-store', 'content-length': '0',
    },
  };
}

function hasKey({ headers, rawHeaders, url = '' }: IncomingMessage): boolean {
  return headers['x-api-key'] !== undefined
    || [url, ...rawHeaders].some((text) => KEY.test(text));
}

function reject(detail: string): Reply {
  return replyWithProblem(403, 'tls-required', 'This address has no TLS', detail);
}
