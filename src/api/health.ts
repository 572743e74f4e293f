/** How the server is: whoever watches over it needs no key, and learns nothing of sellers. */
import { AppError } from '../domain/error.ts';
import type { Reply } from '../http/response/reply.ts';
import { JSON_TYPE } from './media-types.ts';
import type { ApiRequest, Services } from './route.ts';

const HEADERS = { 'content-type': JSON_TYPE, 'cache-control': 'no-store' };

/** GET /healthz: 200, also of a server that is stopping */
export async function readHealth(): Promise<Reply> {
  return { status: 200, headers: HEADERS, body: '{"status":"alive"}' };
}

/** GET /readyz: 200, 503 */
export async function readReadiness(
  _call: Pick<ApiRequest, 'headers'>, { readiness }: Services,
): Promise<Reply> {
  const fault = await readiness.findFault();
  if (fault !== undefined) throw new AppError('unavailable', fault);
  return { status: 200, headers: HEADERS, body: '{"status":"ready"}' };
}
