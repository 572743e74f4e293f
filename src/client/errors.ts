/**
 * The errors of the client. What the server rejected is an `ApiError` with the members of its
 * problem document (RFC 9457), of a class that says what to do about it. What never got a response
 * is a `ConnectionError`. No error contains the API key.
 */
import { AppError, type ErrorCode, type Issue } from '../domain/error.ts';

/** A problem document. A newer server may send members and types that this client does not know. */
export interface Problem {
  /** A URN that ends with the code of the error, such as `sku-taken`. */
  readonly type: string;
  /** What the type means, in a few words. */
  readonly title: string;
  /** HTTP status. */
  readonly status: number;
  /** What happened, and what to do. */
  readonly detail: string;
  /** Finds an error of the server in its log. */
  readonly instance?: string;
  /** Everything that is wrong with the request. */
  readonly errors?: readonly Issue[];
  /** Members that only some types have, such as the `results` of a rejected stock sync. */
  readonly [member: string]: unknown;
}

/** What an `ApiError` has beside its problem. */
interface ApiErrorDetails {
  /** Default: those of the problem, with options spelled as in the client. */
  readonly issues?: readonly Issue[];
  /** Seconds after which the same request may succeed. */
  readonly retryAfterSeconds?: number | undefined;
  /** The error that led to this one. */
  readonly cause?: unknown;
}

/**
 * The server rejected the request. `code` says why: the end of the problem's `type`, such as
 * `sku_taken`, or `unexpected_response` if the response is not one of this API, such as the page of
 * a proxy. `issues` lists everything that is wrong with the data, the arguments or the options.
 */
export class ApiError extends AppError {
  /** The name of the class. */
  override readonly name: string = 'ApiError';
  /** HTTP status; that of the problem if a stream ended with one. */
  readonly status: number;
  /** As the server sent it. */
  readonly problem: Problem;

  /** @param problem As the server sent it. */
  constructor(problem: Problem, details: ApiErrorDetails = {}) {
    const { type, title, status, errors = [] } = problem;
    const { issues = errors.map(spellIssue) } = details;
    const detail = spellOptions(problem.detail);
    // The cast: a newer server may have codes that this version does not know.
    super(parseCode(type) as ErrorCode, detail, { ...details, issues });
    this.message = `${title}: ${detail}${formatIssues(issues)}`;
    this.problem = problem;
    this.status = status;
  }
}

/** 400: the data or the query is invalid; `issues` lists every fault. */
export class InvalidDataError extends ApiError {
  /** The name of the class. */
  override readonly name = 'InvalidDataError';
}

/** 401: the key is missing, unknown, revoked, expired, or used from an address not allowed. */
export class AuthenticationError extends ApiError {
  /** The name of the class. */
  override readonly name = 'AuthenticationError';
}

/** 403: the key lacks the scope of this request. */
export class PermissionError extends ApiError {
  /** The name of the class. */
  override readonly name = 'PermissionError';
}

/** 404: there is no such product, webhook or path. */
export class NotFoundError extends ApiError {
  /** The name of the class. */
  override readonly name = 'NotFoundError';
}

/** 409: another product of this seller has the SKU. */
export class SkuTakenError extends ApiError {
  /** The name of the class. */
  override readonly name = 'SkuTakenError';
}

/** 409: an atomic stock sync had failures, or a stocktake would set too many products to 0. */
export class StockRejectedError extends ApiError {
  /** The name of the class. */
  override readonly name = 'StockRejectedError';
}

/** 410: the history no longer reaches back that far. Export the catalogue and follow from there. */
export class ResyncRequiredError extends ApiError {
  /** The name of the class. */
  override readonly name = 'ResyncRequiredError';
}

/** 412: the product is not at the version that the request requires. Read it again. */
export class PreconditionFailedError extends ApiError {
  /** The name of the class. */
  override readonly name = 'PreconditionFailedError';
}

/**
 * 422: the Idempotency-Key was used for a different request, which was applied. Before you send a
 * retry with a new key, read what it changed: the retry would be applied, too.
 */
export class IdempotencyError extends ApiError {
  /** The name of the class. */
  override readonly name = 'IdempotencyError';
}

/**
 * 422: a rule of the shop rejected the write, and nothing was changed. `issues` names each product,
 * with the reason.
 */
export class WriteRejectedError extends ApiError {
  /** The name of the class. */
  override readonly name = 'WriteRejectedError';
}

/** 429: too many requests, also after the retries; `retryAfterSeconds` says when to continue. */
export class RateLimitedError extends ApiError {
  /** The name of the class. */
  override readonly name = 'RateLimitedError';
}

/** 503 or 507: the server cannot do this now, also after the retries. */
export class UnavailableError extends ApiError {
  /** The name of the class. */
  override readonly name = 'UnavailableError';
}

/** What is known about a failed connection. */
interface ConnectionDetails {
  /** What the runtime says, such as `ECONNREFUSED`. */
  readonly code?: string | undefined;
  /** The server's. */
  readonly baseUrl?: string | undefined;
  /** The error of the runtime. */
  readonly cause?: unknown;
}

/** No response: the server was not reached, the connection broke, or the time ran out. */
export class ConnectionError extends Error {
  /** The name of the class. */
  override readonly name: string = 'ConnectionError';
  /** What the runtime says, such as `ECONNREFUSED`; undefined if it says nothing. */
  readonly code: string | undefined;
  /** The server's. */
  readonly baseUrl: string | undefined;

  /** @param message What happened, and what to do. */
  constructor(message: string, { code, baseUrl, cause }: ConnectionDetails = {}) {
    super(message, { cause });
    this.code = code;
    this.baseUrl = baseUrl;
  }
}

/** No response, or no more of one, within `timeoutMs`. */
export class TimeoutError extends ConnectionError {
  /** The name of the class. */
  override readonly name = 'TimeoutError';
}

/** By code or status. A map has nothing else, whatever code a server sends. */
const CLASSES = new Map<string | number, typeof ApiError>([
  ['sku_taken', SkuTakenError],
  ['sync_refused', StockRejectedError],
  ['history_pruned', ResyncRequiredError],
  ['write_rejected', WriteRejectedError],
  [400, InvalidDataError],
  [401, AuthenticationError],
  [403, PermissionError],
  [404, NotFoundError],
  [412, PreconditionFailedError],
  [422, IdempotencyError],
  [429, RateLimitedError],
  [503, UnavailableError],
  [507, UnavailableError],
]);

/** The error for a problem document, of the class that fits its type, or else its status. */
export function createApiError(problem: Problem, details?: ApiErrorDetails): ApiError {
  const Class = CLASSES.get(parseCode(problem.type)) ?? CLASSES.get(problem.status) ?? ApiError;
  return new Class(problem, details);
}

/**
 * The problem in a response or a report: its members have their types, whatever the server sends.
 */
export function toProblem(value: unknown, givenStatus?: number): Problem {
  // The cast: members of any copy can be read, and stay unknown.
  const members = { ...value as Record<string, unknown> };
  const { type, title, detail, errors, status = 500 } = members;
  return {
    ...members,
    type: typeof type === 'string' ? type : 'about:blank', // its meaning without one
    title: typeof title === 'string' ? title : 'The request failed',
    detail: typeof detail === 'string' ? detail
      : `The server responded with status ${givenStatus ?? status}.`,
    errors: Array.isArray(errors) ? errors : [],
    status: givenStatus ?? Number(status),
  };
}

/** The type of the problem that stands for a response that is not one of the API. */
export const UNEXPECTED_RESPONSE = 'urn:problem-type:seller-product-api:unexpected-response';

/** The problem of a response that is not one of the API: a proxy may answer with anything. */
export function describeUnexpected(
  status: number,
  detail = `The server responded with status ${status}, but not like a Seller Product API server.`,
): Problem {
  return { type: UNEXPECTED_RESPONSE, title: 'Unexpected response', detail, status };
}

/** Parses a JSON object of a successful response. @throws ApiError `unexpected_response` */
export function parseObject(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // not JSON
  }
  // The cast: any object can be read by name, and its values stay unknown.
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  throw createApiError(describeUnexpected(200));
}

function parseCode(type: string): string {
  return type.slice(type.lastIndexOf(':') + 1).replaceAll('-', '_');
}

/** An issue whose parameter, or member that an option became, is spelled as the option. */
export function spellIssue(issue: Issue): Issue {
  const { parameter, pointer, detail } = { ...issue };
  const isOption = pointer === '/dry_run' || pointer === '/zero_limit';
  return {
    ...issue,
    // The name of a pair, after a dot, stays.
    ...(parameter !== undefined && { parameter: `${parameter}`.replace(/^[^.]*/, toCamelCase) }),
    ...(isOption && { pointer: toCamelCase(pointer) }),
    detail: spellOptions(`${detail}`),
  };
}

/**
 * A text of the server; in it, `short_rows=blank` and `zero_limit` are options. What is in quotes
 * is data, unless it is the name of an option alone.
 */
export function spellOptions(text: string): string {
  return text.replaceAll(/"(?:[^"\\]|\\.)*"|\b[a-z]+(?:_[a-z]+)+(?==)|\bzero_limit\b/g, (part) =>
    (part.startsWith('"') ? part.replace(OPTION_ALONE, toCamelCase) : toCamelCase(part)));
}

const OPTION_ALONE = /^"(?:(?:price|stock)_(?:min|max)|(?:updated|changed)_since|zero_limit)"$/;

function toCamelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Up to three, so that a message stays readable; `issues` has all. */
function formatIssues(issues: readonly Issue[]): string {
  const texts = issues.slice(0, 3).map(({ pointer, parameter, detail }) =>
    `${pointer ?? parameter ?? ''}: ${detail}`);
  return texts.length > 0 ? ` (${texts.join(' ')})` : '';
}
