/**
 * `/metrics`, for Prometheus: to whoever has its token (RFC 6750), or on a port of its own that
 * only this machine reaches. Figures tell how busy the server is, and nothing of a seller.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import { AppError } from '../../domain/error.ts';
import type { Pages } from '../../feature.ts';
import { LingeringConnections } from '../../http/server/lingering-close.ts';
import { isLoopbackHost } from '../../http/server/tls.ts';
import {
  createProblem, type ErrorReporter, replyWithProblem,
} from '../../http/response/problem.ts';
import { type Reply, sendReply } from '../../http/response/reply.ts';
import { isFromWebPage } from '../../http/request/client-address.ts';
import type { MetricFamily } from '../../runtime/metric-family.ts';
import { formatFamilies, METRICS_TYPE } from './prometheus.ts';

type ListFamilies = () => Promise<readonly MetricFamily[]>;

const PATH = '/metrics';
const METHODS = ['GET', 'HEAD'];

/** The page for clients that have the token. */
export function guardMetrics(list: ListFamilies, token: string): Pages {
  const digest = hash(token);
  return {
    isFor: (path) => path === PATH,
    findMethods: () => METHODS,
    async answer({ request, record }) {
      record.route = PATH;
      if (isFromWebPage(request.headers)) return rejectWebPage();
      const { authorization } = request.headers;
      const [, given] = /^Bearer +([\w.~+/-]+=*)$/i.exec(authorization ?? '') ?? [];
      // Of one length, whatever was sent: the time tells nothing about the token.
      const isRight = timingSafeEqual(hash(given ?? ''), digest);
      return given !== undefined && isRight ? answer(request, list) : refuse(authorization);
    },
  };
}

/** The page on a port of its own. `report` is told of errors that are not the client's doing. */
export function serveMetrics(
  list: ListFamilies, report: ErrorReporter,
): RequestListener {
  const lingering = new LingeringConnections();
  return async (request, response) => {
    const reply = await answerLocally(request, list)
      .catch((error) => createProblem(error, report));
    lingering.lingerAfter(response, reply);
    void sendReply(response, reply);
  };
}

async function answerLocally(request: IncomingMessage, list: ListFamilies): Promise<Reply> {
  const { url = '', headers } = request;
  if (isFromWebPage(headers)) return rejectWebPage();
  // A page in a browser of this machine may come here by another name (DNS rebinding).
  const { host = '' } = headers;
  if (isLoopbackHost(host) && /^\/metrics(?:\?|$)/.test(url)) return answer(request, list);
  throw new AppError('not_found', 'There is nothing but /metrics of 127.0.0.1 here.');
}

async function answer({ method = '' }: IncomingMessage, list: ListFamilies): Promise<Reply> {
  if (!METHODS.includes(method)) {
    const detail = `This path answers ${METHODS.join(', ')}.`;
    throw new AppError('method_not_allowed', detail, { allow: METHODS });
  }
  const headers = { 'content-type': METRICS_TYPE, 'cache-control': 'no-store' };
  return { status: 200, headers, body: formatFamilies(await list()) };
}

function refuse(authorization: string | undefined): Reply {
  const fault = authorization === undefined ? '' : ', error="invalid_token"';
  const detail = 'Send the token of the metrics as "authorization: Bearer ...".';
  return replyWithProblem(
    { name: 'token-refused', title: 'The token is not valid', status: 401, detail },
    { 'www-authenticate': `Bearer realm="metrics"${fault}` },
  );
}

function rejectWebPage(): Reply {
  const detail = 'This request was sent by a web page. Let Prometheus collect the metrics.';
  const title = 'Metrics are not for web pages';
  return replyWithProblem({ name: 'web-page-rejected', title, status: 403, detail });
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
