/**
 * The problem responses in the OpenAPI document. The code that sends problems also generates their
 * examples and header fields, one for each error code.
 */
import { AppError, type ErrorCode } from '../../domain/error.ts';
import { createProblem, PROBLEM_TYPE } from '../../http/response/problem.ts';
import type { Reply } from '../../http/response/reply.ts';
import { STATUS_CODES } from '../../runtime/node-http.ts';
import { type ResponseField, responseFields } from '../../api/description/header-fields.ts';
import type { OperationResponse } from '../../api/description/operation.ts';
import type { Route } from '../../api/route.ts';
import { refer } from '../../api/description/schema.ts';

type Details = ConstructorParameters<typeof AppError>[2];

const EXAMPLE_INSTANCE = 'urn:uuid:0a62d62f-4d8a-4f6a-9a07-6c1f2a6a7f10';

/** No route has these errors: programs that embed the server get them. */
type EmbedderCode = 'external_id_taken' | 'seller_enabled';
type RouteCode = Exclude<ErrorCode, EmbedderCode>;

const examples: Readonly<Record<RouteCode, readonly [detail: string, details?: Details]>> = {
  bad_request: ['Send the header "host" once.'],
  invalid_json: ['The body is not JSON: it ends too early.'],
  invalid_data: ['The request body has 1 error.', {
    issues: [{ pointer: '/stock', code: 'required', detail: 'Is required.' }],
  }],
  invalid_query: ['Correct or omit "limit".', {
    issues: [{ parameter: 'limit', code: 'range', detail: 'Must be from 1 to 1000.' }],
  }],
  key_missing: ['Send your API key in the header x-api-key.'],
  key_malformed: ['This is not a key of this service. Copy the whole key.'],
  key_unknown: ['This key does not exist, was revoked, or its seller is disabled.'],
  key_expired: ['This key has expired. Create a new one.'],
  address_refused: ['This key may only be used from its configured addresses.'],
  browser_refused: ['This request was sent by a web page, where anyone can read the key.'],
  scope_missing: ['This key lacks the scope products:write. Create one that has it.'],
  not_found: ['You have no product with this id.'],
  method_not_allowed: ['This path supports GET, HEAD, POST.', { allow: ['GET', 'HEAD', 'POST'] }],
  not_acceptable: ['Available types: application/json. Send one of them in Accept.'],
  request_timeout: ['The body arrived at less than 1024 bytes/s. Send the request again.'],
  sku_taken: ['You already have a product with the SKU "MUG-1".', {
    issues: [{ pointer: '/sku', code: 'taken', detail: 'Is the SKU of another product.' }],
  }],
  limit_reached: ['You have 20 webhooks, the maximum. Delete one first.'],
  sync_refused: ['1 of 2 changes failed, and the request is atomic. Nothing was changed.'],
  history_pruned: ['The history begins after position 1200. Export again and continue from there.'],
  precondition_failed: ['The product has changed: its ETag is "13".'],
  body_too_large: ['The body may have at most 131072 bytes.'],
  unsupported_media_type: ['Send the header "content-type: application/json".'],
  expectation_failed: ['Send the request without the header "expect".'],
  idempotency_mismatch: ['This Idempotency-Key was already used for another request.'],
  write_rejected: ['The change of a product was rejected: "MUG-1": No price cut above 20 %.', {
    issues: [{ pointer: '', code: 'rejected', detail: '"MUG-1": No price cut above 20 %.' }],
  }],
  rate_limited: ['Too many requests. Retry in 2 s.', { retryAfterSeconds: 2 }],
  internal: ['The error is in the server log.'],
  unavailable: ['This server is stopping.'],
  storage_full: ['The disk of this server is full. Nothing was changed.'],
};

/** Problem statuses of a route: those that follow from the route, and the operation's own. */
export function listProblems(route: Route): readonly number[] {
  const { method, path, scopes, consumes, produces, operation } = route;
  const { requestHeaders = [], problems = [] } = operation;
  return [
    400,
    ...(scopes === undefined ? [] : [401, 403, 429]),
    ...(path.includes('{') ? [404] : []),
    ...(produces.length > 0 ? [406] : []),
    ...(requestHeaders.includes('IfMatch') ? [412] : []),
    ...(consumes.length > 0 ? [408, 413, 415] : []),
    417,
    ...(requestHeaders.includes('IdempotencyKey') ? [422] : []),
    ...(method === 'GET' ? [] : [507]),
    500, 503, ...problems,
  ];
}

/** The name of a status as a component of the document: `NotFound`. */
export function responseName(status: number): string {
  return (STATUS_CODES[status] ?? '').replaceAll(/\W/g, '');
}

/** The problems by status. */
export function describeProblems(): ReadonlyMap<number, OperationResponse> {
  // The cast: Object.entries loses the key type.
  const entries = Object.entries(examples) as [RouteCode, (typeof examples)[RouteCode]][];
  const replies = entries.map(([code, [detail, details]]) => {
    const reply = createProblem(new AppError(code, detail, details), () => {});
    return { code, reply, problem: readProblem(reply) };
  });
  const groups = Map.groupBy(replies, ({ reply }) => reply.status);
  return new Map([...groups].map(([status, group]) => [status, {
    description: group.map(({ problem }) => `${problem.title}.`).join(' '),
    headers: [
      ...group.slice(0, 1).flatMap(({ reply }) => listFields(reply)),
      // Rates are per key, and counted only once the key is accepted.
      ...(status === 401 ? [] : ['RateLimit', 'RateLimitPolicy'] as const),
    ],
    content: {
      [PROBLEM_TYPE]: {
        schema: refer('Problem'),
        examples: Object.fromEntries(group.map(({ code, problem }) => [code, { value: problem }])),
      },
    },
  }]));
}

function readProblem({ body }: Reply): { title: string; instance?: string } {
  // The cast: createProblem returns JSON text with a title.
  const problem = JSON.parse(String(body)) as { title: string; instance?: string };
  // Each error has a new id, but the document must not change.
  return problem.instance === undefined ? problem : { ...problem, instance: EXAMPLE_INSTANCE };
}

function listFields({ headers }: Reply): ResponseField[] {
  // The cast: these are the table's own keys.
  const names = Object.keys(responseFields) as ResponseField[];
  return names.filter((name) => responseFields[name].field.toLowerCase() in headers);
}
