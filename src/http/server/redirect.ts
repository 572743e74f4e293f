/**
 * What a plain port beside one of TLS answers: where to go instead. It leads to the host that the
 * operator named, never to the one that a request names, and takes nothing: whatever comes here has
 * crossed the network in the clear, and a client that is only sent on would not notice.
 */
import type { IncomingMessage, RequestListener } from 'node:http';
import { LingeringConnections } from './lingering-close.ts';
import { replyWithProblem } from '../response/problem.ts';
import { type Reply, sendReply } from '../response/reply.ts';

/** The beginning of a key, wherever it stands. */
const KEY = /spk_[0-9A-Za-z]{20}/;

/** Leads to the same target at `origin`, such as `https://shop.example`. */
export function createRedirect(origin: string): RequestListener {
  const lingering = new LingeringConnections();
  return (request, response) => {
    const isReading = request.method === 'GET' || request.method === 'HEAD';
    const reply = hasKey(request) ? refuseKey(origin)
      : isReading ? leadOn(origin, request.url ?? '') : refuseData(origin);
    lingering.lingerAfter(response, reply);
    void sendReply(response, reply);
  };
}

function hasKey({ headers, rawHeaders, url }: IncomingMessage): boolean {
  return headers['x-api-key'] !== undefined || [url ?? '', ...rawHeaders].some((text) =>
    KEY.test(text));
}

function leadOn(origin: string, target: string): Reply {
  // Put together rather than resolved: a target such as "//evil.example" would lead elsewhere.
  const location = target.startsWith('/') ? URL.parse(origin + target)?.href : undefined;
  return {
    status: 308,
    headers: {
      location: location ?? `${origin}/`, 'cache-control': 'no-store', 'content-length': '0',
    },
  };
}

function refuseKey(origin: string): Reply {
  return refuse('An API key came here without TLS: anybody on the way may have it now. Revoke it,'
    + ` create another, and send that to ${origin} alone.`);
}

function refuseData(origin: string): Reply {
  return refuse('This came without TLS, and nothing of it was taken. If there was a secret in it,'
    + ` change it. Send requests to ${origin}.`);
}

function refuse(detail: string): Reply {
  const title = 'This address has no TLS';
  return replyWithProblem({ name: 'tls-required', title, status: 403, detail });
}
