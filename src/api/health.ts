/**
 * Liveness and readiness, for load balancers and monitoring. Neither needs a key or reveals
 * anything about sellers. Readiness checks that the server can read and probably write, at most
 * once a second and without waiting for a disk or a database server that does not respond.
 */
import { AppError } from '../domain/error.ts';
import { type Reply, replyJson } from '../http/response/reply.ts';
import type { StoreMetrics } from '../store/maintenance-store.ts';
import type { Store } from '../store/store.ts';
import type { Operation, OperationResponse, Tag } from './description/operation.ts';
import { objectOf } from './description/schema.ts';
import {
  READY_CHECK_INTERVAL_MS, READY_CHECK_TIMEOUT_MS, READY_MIN_FREE_BYTES, READY_RETRY_MS,
} from './limits.ts';
import { JSON_TYPE } from './media-types.ts';
import type { ApiRequest, Services } from './route.ts';

/** GET /healthz: 200, also while the server is stopping */
export async function readHealth(): Promise<Reply> {
  return replyJson('{"status":"alive"}');
}

/** GET /readyz: 200, 503 */
export async function readReadiness(
  _request: Pick<ApiRequest, 'headers'>, { instances }: Services,
): Promise<Reply> {
  const problem = await instances.get(createReadinessCheck)();
  if (problem !== undefined) throw new AppError('unavailable', problem);
  return replyJson('{"status":"ready"}');
}

/** Returns a sentence saying why the server is not ready, or undefined if it is. */
function createReadinessCheck({ store }: Services): () => Promise<string | undefined> {
  /** The last check, valid until the next one. */
  let check: Promise<string | undefined> | undefined;
  let isChecking = false;
  let checkedAt = -Infinity;
  return async () => {
    const now = performance.now();
    if (!isChecking && now >= checkedAt + READY_CHECK_INTERVAL_MS) {
      checkedAt = now;
      isChecking = true;
      check = checkStore(store).finally(() => { isChecking = false; });
    }
    const late = Promise.withResolvers<string>();
    const problem = 'The database does not respond.';
    using _timer = setTimeout(late.resolve, READY_CHECK_TIMEOUT_MS, problem);
    return await Promise.race([check, late.promise]);
  };
}

/** Never rejects. */
async function checkStore(store: Store): Promise<string | undefined> {
  const unreadable = (): string => 'The database cannot be read.'; // failing requests report why
  try {
    const reading = store.listSellers({ after: undefined, limit: 1 })
      .then(() => undefined, unreadable);
    const metrics = await store.readMetrics();
    return metrics.failure ?? await reading ?? findStoreProblem(metrics);
  } catch {
    return unreadable();
  }
}

function findStoreProblem({ disk, lastFailure }: StoreMetrics): string | undefined {
  if (disk && disk.freeBytes < READY_MIN_FREE_BYTES) return 'The disk is full.';
  // Ready again after a while: only another write can show that the problem is over.
  if (!lastFailure || lastFailure.agoMs >= READY_RETRY_MS) return undefined;
  const isFull = lastFailure.code === 'storage_full';
  return isFull ? 'The disk is full.' : 'The last change could not be written.';
}

export const serverTag: Tag = {
  name: 'Server', description: 'The server itself. These operations need no key.',
};

export const readHealthOperation: Operation = {
  id: 'readHealth',
  tag: serverTag,
  summary: 'Check that the server is alive',
  description: 'Succeeds as long as the process responds at all. Needs no key.',
  responses: { 200: describeStatus('The server is alive.', 'alive') },
};

export const readReadinessOperation: Operation = {
  id: 'readReadiness',
  tag: serverTag,
  summary: 'Check that the server is ready',
  description: 'With 503, `detail` says why not: the server is stopping, its database was moved '
    + 'away, does not respond, cannot be read or has the wrong schema, its disk is full, or its '
    + 'last change could not be written. Checked at most once a second. Needs no key.',
  responses: { 200: describeStatus('The server is ready.', 'ready') },
};

function describeStatus(description: string, status: string): OperationResponse {
  return {
    description,
    content: {
      [JSON_TYPE]: { schema: objectOf({ status: { const: status } }), example: { status } },
    },
  };
}
