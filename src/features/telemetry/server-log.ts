/**
 * What a server writes to its log: a line for each request, for each error of its own, and for what
 * its operator should know. A line of a request has no more than `AccessLogEntry` has.
 */
import { inspect } from 'node:util';
import { formatKeyId, formatSellerId } from '../../domain/id.ts';
import type { AccessLogEntry } from '../../http/request-record.ts';
import type { ErrorReport } from '../../http/response/problem.ts';
import type { Log } from './log.ts';

/** Routes that are asked again and again by whoever watches over the server. */
const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);

/** Whether requests are worth describing now. */
export function logsRequests(log: Log): boolean {
  return log.has('warn');
}

export function logRequest(log: Log, request: AccessLogEntry): void {
  const { sellerId, keyId, durationMs } = request;
  const isKey = sellerId !== undefined && keyId !== undefined;
  log.write(findLevel(request), 'request', {
    method: request.method,
    route: request.route,
    status: request.status,
    code: request.code,
    complete: request.isComplete,
    duration_ms: Math.round(durationMs * 1_000) / 1_000,
    bytes: request.sentBytes,
    address: request.address,
    seller: sellerId === undefined ? undefined : formatSellerId(sellerId),
    key: isKey ? formatKeyId({ sellerId, keyId }) : undefined,
    trace_id: request.traceId,
    span_id: request.spanId,
    parent_span_id: request.parentSpanId,
  });
}

export function logError(log: Log, { id, error }: ErrorReport): void {
  log.write('error', 'error', { id, error: inspect(error) });
}

function findLevel({ route, status }: AccessLogEntry): 'warn' | 'info' | 'debug' {
  if (PROBES.has(route)) return 'debug';
  return status >= 500 ? 'warn' : 'info';
}
